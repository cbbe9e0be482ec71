// SPDX-License-Identifier: MIT
#include "export/summary.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "export/columns.hpp"
#include "export/escape.hpp"
#include "export/export_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using nsdump::stats_summary;

namespace
{
std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// `slices` copies of a slice, and as many warnings.
nsdump::StatsReport large_report(size_t slices)
{
    nsdump::StatsReport report = test_support::report_of_slices(25);
    const nsdump::SliceReport one = report.slices.at(0);
    report.slices.clear();
    report.warnings.clear();
    for (size_t i = 0; i < slices; ++i) {
        report.slices.push_back(one);
        report.slices.back().name = "a_name_that_is_longer_than_most_of_them_" + std::to_string(i);
        report.warnings.push_back(std::string(200, 'w') + std::to_string(i));
    }
    return report;
}
} // namespace

TEST_CASE("a summary fits on any screen, with room for the prompt", "[nsdump][summary]")
{
    for (const size_t slices : {0, 1, 5, 300})
        for (const size_t lines : {12, 24, 50})
            for (const size_t columns : {1, 5, 20, 40, 80, 200}) {
                const auto shown = lines_of(stats_summary(large_report(slices), {columns, lines}));
                INFO(slices << " slices on " << columns << " x " << lines);
                CHECK(shown.size() < lines);
                CHECK(std::ranges::all_of(shown, [&](const std::string &line) {
                    return nsdump::display_width(line) <= columns;
                }));
            }
}

TEST_CASE("a screen with very few lines has the most important slice", "[nsdump][summary]")
{
    for (const size_t lines : {1, 5, 8}) {
        const std::string text = stats_summary(test_support::varied_report(), {80, lines});
        CHECK_THAT(text, Contains("rx") && Contains("1 more slice"));
    }
}

TEST_CASE("what does not fit is counted, with the option that shows it", "[nsdump][summary]")
{
    const std::string text = stats_summary(large_report(300), {80, 24});
    const auto lines = lines_of(text);
    const auto rows = std::ranges::count_if(
        lines, [](const std::string &line) { return line.starts_with("a_name"); });
    const auto warnings = std::ranges::count_if(
        lines, [](const std::string &line) { return line.starts_with("warning"); });
    CHECK(warnings == 3);
    CHECK_THAT(text, Contains(std::to_string(300 - rows) + " more slices, 297 more warnings"));
    CHECK_THAT(stats_summary(large_report(300), {200, 24}), Contains("nsdump stats --all"));
}

TEST_CASE("slices come in the order of their share, which adds up to all of them",
          "[nsdump][summary]")
{
    const auto report = test_support::varied_report();
    const auto lines = lines_of(stats_summary(report, {}));
    double sum = 0, last = 100;
    for (const std::string &line : lines)
        if (const size_t end = line.find(" %  ");
            end != std::string::npos && end > 5 && line.find("share") == std::string::npos) {
            const double share = std::stod(line.substr(line.rfind(' ', end - 1)));
            CHECK(share <= last);
            last = share;
            sum += share;
        }
    CHECK(sum == Approx(100).margin(0.2));
}

TEST_CASE("the table says which values are trimmed, on 80 columns", "[nsdump][summary]")
{
    const auto lines = lines_of(stats_summary(test_support::varied_report(), {}));
    const auto is_caption = [](const std::string &line) {
        return line.starts_with("in ") &&
               line.ends_with("net: trimmed mean; share: of all slices' own time, not trimmed");
    };
    CHECK(std::ranges::count_if(lines, is_caption) == 1);
}

TEST_CASE("without a calibration the table has raw values, and says so", "[nsdump][summary]")
{
    nsdump::StatsReport report = test_support::report_of_slices(25);
    for (nsdump::FieldReport &field : report.slices.at(0).values) {
        field.net.reset();
        field.self.reset();
        field.per_packet.reset();
    }
    const auto lines = lines_of(stats_summary(report, {80, 24}));
    CHECK_THAT(lines.at(3), Contains("; raw: trimmed mean;"));
    CHECK_THAT(lines.at(4), Contains(" raw ") && !Contains("  net "));
    CHECK_THAT(lines.at(5), Contains(" 112.0 ")); // of 100 to 124
}

TEST_CASE("a slice that is rarely long has its share of the time, and a small net value",
          "[nsdump][summary]")
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.calibration(NSLICE_CALIBRATION_START, 900, 0,
                      {test_support::entry(NSLICE_KIND_START, 0, 0, 0)});
    const uint16_t even = trace.site("even"), uneven = trace.site("uneven");
    uint64_t ticks = 1000;
    const auto add = [&](uint16_t slice, uint64_t length) {
        trace.start(0, 1, slice, ticks);
        trace.stop(0, 1, slice, ticks + length);
        ticks += length + 10;
    };
    for (int i = 0; i < 100; ++i) {
        add(even, 100);
        add(uneven, i == 50 ? 90'100 : 100);
    }
    trace.footer(NSLICE_END_CLOSED, ticks, ticks);
    nsdump::TraceFile file(test_support::source_of(trace.bytes()));
    const std::string text = stats_summary(nsdump::analyse_trace(file), {});
    CHECK_THAT(text, Contains("uneven  90.9 %    100  100.0") &&
                         Contains("even     9.1 %    100  100.0"));
}

TEST_CASE("losses are in the second line", "[nsdump][summary]")
{
    const auto lines = lines_of(stats_summary(test_support::varied_report(), {}));
    REQUIRE(lines.size() > 2);
    CHECK_THAT(lines[1], Contains("2 of 12 records were lost"));
}

TEST_CASE("only a screen with colours gets escape sequences, and none from a name",
          "[nsdump][summary]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "\x1b[31mred";
    report.path = "\x1b]0;title\x07";
    CHECK_THAT(stats_summary(report, {80, 24, false}), !Contains("\x1b"));
    const std::string coloured = stats_summary(report, {80, 24, true});
    CHECK_THAT(coloured, Contains("\x1b[31mlosses"));
    CHECK_THAT(coloured, !Contains("\x1b[31mred") && !Contains("\x1b]0"));
}
