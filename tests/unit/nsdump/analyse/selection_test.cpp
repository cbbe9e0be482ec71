// SPDX-License-Identifier: MIT
// Rules that did nothing, or took the correction of programs' slices something.
#include "support/catch.hpp"

#include "analyse/selection.hpp"
#include "nsdump_support.hpp"

using test_support::TraceBuilder;

namespace
{
// A program's slice filter, and the kernel's irq and xmit.
std::vector<std::string> warnings_of(const std::string &info)
{
    TraceBuilder trace;
    trace.info(info);
    trace.site("filter");
    trace.site("packet", NSLICE_KIND_INIT);
    trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
    trace.kernel_site("xmit");
    return nsdump::selection_warnings(nsdump::TraceFile(test_support::source_of(trace.bytes())));
}
} // namespace

TEST_CASE("a pattern that matches no slice is reported with the names that there are",
          "[nsdump][selection]")
{
    CHECK(warnings_of("session.slices=\n").empty());
    CHECK(warnings_of("session.slices=f*\n").empty());
    CHECK(warnings_of("session.slices=f*,!packet\n") ==
          std::vector<std::string>{
              "slices: no slice or mark matches \"!packet\"; available: filter"});
}

TEST_CASE("a name of the kernel is a match only if the rules applied to the kernel",
          "[nsdump][selection]")
{
    CHECK(warnings_of("session.slices=filter,xmit\n").size() == 1);
    CHECK(warnings_of("session.slices=filter,xmit,irq\nkernel.slices=filter,xmit,irq\n").empty());
    CHECK(warnings_of("session.slices=filter,kernel:*\nkernel.slices=filter,kernel:*\n").empty());
    CHECK(warnings_of("session.slices=x,kernel:*\nkernel.slices=x,kernel:*\n") ==
          std::vector<std::string>{"slices: no slice or mark matches \"x\"; available: filter, "
                                   "kernel:irq, kernel:xmit"});
    CHECK(warnings_of("kernel.slices=y,irq\n").size() == 1); // without programs
}

TEST_CASE("interrupts that the rules turned off are reported, because they cannot be subtracted",
          "[nsdump][selection]")
{
    const std::vector<std::string> warnings =
        warnings_of("session.slices=filter,xmit\nkernel.slices=filter,xmit\n");
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0],
               Catch::Contains("kernel:irq not recorded") && Catch::Contains("is not subtracted"));
}
