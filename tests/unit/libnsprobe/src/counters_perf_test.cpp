// SPDX-License-Identifier: MIT
// Counters of a PMU, where the machine has one: totals that increase, through the page and through
// read().
#include "support/probe_session.hpp"

#include <cstddef>

#include <sys/mman.h>

#include <nsprobe/counters.h>
#include <nsprobe/probe.h>

#include "support/requires.hpp"

namespace
{
constexpr size_t kPageBytes = 4096;

// A sanitizer would touch its own pages for each of these.
__attribute__((noinline, no_sanitize("address", "undefined"))) void
touch(volatile char *memory, size_t pages, size_t stride)
{
    for (size_t i = 0; i < pages; i += stride)
        memory[i * kPageBytes] = 1;
}
} // namespace

TEST_CASE("with a PMU, rdpmc and perf-read count at least the instructions that ran",
          "[libnsprobe][perf]")
{
    test_support::TempDir dir;
    int sources = 0;
    for (const std::string source : {"rdpmc", "perf-read"}) {
        if (nsp_session_configure(("calibration=no counters=instructions source=" + source +
                                   " output=" + (dir / "t.nsl").string())
                                      .c_str()))
            continue;
        nsp_session_close(nullptr);
        ++sources;
        test_support::ProbeSession session("calibration=no counters=instructions source=" + source);
        for (int i = 0; i < 100; ++i) {
            NET_SLICE_START(work);
            __asm__ volatile(".rept 1000\n\tnop\n\t.endr");
            NET_SLICE_STOP(work);
        }
        const auto result = session.close();
        require_accounted(result, 200);
        CHECK(result.trace.info.at("counters.source") == source);
        for (size_t i = 0; i + 1 < result.trace.records.size(); i += 2) {
            REQUIRE(result.trace.records[i].words == 1);
            const auto count =
                result.trace.records[i + 1].word[0] - result.trace.records[i].word[0];
            CHECK(count >= 1000);
            CHECK(count < 1500);
        }
    }
    if (sources == 0)
        test_support::skip("programs have no access to a PMU on this machine");
}

TEST_CASE("perf-read counts the kernel's software events without a PMU, exact to the page fault",
          "[libnsprobe][perf]")
{
    if (nsp_source_try(NSP_SOURCE_PERF_READ, "page-faults") != 0)
        return test_support::skip(nsp_last_error());
    constexpr size_t kPages = 37;
    auto *memory = static_cast<volatile char *>(mmap(
        nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(const_cast<char *>(memory), kPages * kPageBytes, MADV_NOHUGEPAGE);
    test_support::ProbeSession session("calibration=no counters=page-faults source=perf-read");
    for (const size_t stride : {size_t{1}, kPages}) { // the second round touches nothing new
        NET_SLICE_START(faults);
        touch(memory, kPages, stride);
        NET_SLICE_STOP(faults);
    }
    const auto result = session.close();
    munmap(const_cast<char *>(memory), kPages * kPageBytes);
    REQUIRE(result.trace.records.size() == 4);
    const auto count = [&](size_t at) {
        return result.trace.records[at + 1].word[0] - result.trace.records[at].word[0];
    };
    CHECK(count(0) == kPages);
    CHECK(count(2) == 0);
}
