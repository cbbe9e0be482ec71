// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include "export/export_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;

TEST_CASE("the text names clock, counters, losses, classes and warnings", "[nsdump][text]")
{
    const std::string text = nsdump::stats_text(test_support::varied_report());
    CHECK_THAT(text, Contains("tsc, fast reads, 1.000000 GHz, step 26 ticks"));
    CHECK_THAT(text, Contains("perf-read: INSTRUCTIONS"));
    CHECK_THAT(text, Contains("issued 12 = drained 10 + lost 2 (full 2)"));
    CHECK_THAT(text, Contains("ticks: TSC cycles"));
    CHECK_THAT(text, Contains("INSTRUCTIONS: instructions"));
    CHECK_THAT(text, Contains("below noise 1, interrupted 0, uncounted "));
    CHECK_THAT(text, Contains("left out: migrated 1"));
    CHECK_THAT(text, Contains("2 of 12 records were lost"));
    CHECK_THAT(text, Contains("unit      batch: 1 units, 64 packets, 4096 bytes"));
}

TEST_CASE("a name that would drive the terminal is shown, not obeyed", "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "\x1b[31mred";
    report.info["machine.cpu"] = "\x1b]0;title\x07";
    CHECK_THAT(nsdump::stats_text(report), !Contains("\x1b"));
}
