// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "export/columns.hpp"
#include "export/escape.hpp"
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
    CHECK_THAT(text, Contains("excluded: migrated 1"));
    CHECK_THAT(text, Contains("2 of 12 records were lost"));
    CHECK_THAT(text, Contains("unit      batch: 1 unit, 64 packets, 4096 bytes"));
}

TEST_CASE("control characters in a name are shown, not sent to the terminal", "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "\x1b[31mred";
    report.info["machine.cpu"] = "\x1b]0;title\x07";
    CHECK_THAT(nsdump::stats_text(report), !Contains("\x1b"));
}

namespace
{
// During the test.
struct Locale {
    explicit Locale(const char *name) { setenv("LC_ALL", name, 1); }
    ~Locale() { unsetenv("LC_ALL"); }
};

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}
} // namespace

namespace
{
// The cells of the line that begins with this name, in the first table that has it.
std::vector<std::string> row_of(const std::string &text, const std::string &name)
{
    for (const std::string &line : lines_of(text)) {
        std::istringstream words(line);
        std::vector<std::string> cells;
        for (std::string cell; words >> cell;)
            cells.push_back(cell);
        if (!cells.empty() && cells[0] == name)
            return cells;
    }
    return {};
}

void add_slice(nsdump::StatsReport &report, const std::string &name, bool is_kernel, double total)
{
    nsdump::SliceReport slice = report.slices.at(0);
    slice.name = name;
    slice.is_kernel = is_kernel;
    for (nsdump::FieldReport &field : slice.values)
        field.net->total = total;
    report.slices.push_back(slice);
}
} // namespace

TEST_CASE("the main figures are trimmed means, and one interrupted slice does not move them",
          "[nsdump][text]")
{
    auto report = test_support::report_of_slices(40);
    nsdump::FieldReport &ticks = report.slices[0].values[0];
    ticks.net->mean += 467000 / 40.0; // as one slice that was preempted
    const std::string text = nsdump::stats_text(report);
    const std::vector<std::string> titles = row_of(text, "slice"), row = row_of(text, "rx");
    CHECK(titles == std::vector<std::string>{"slice", "count", "raw", "net", "±95", "%", "mean",
                                             "net", "mean", "self", "p50", "p99", "net/packet",
                                             "±95", "%"});
    REQUIRE(row.size() == 11);
    CHECK(row[2] == "119.5");
    CHECK(row[3] == "99.5");
    CHECK(std::stod(row[4]) < 10);
    CHECK(row[5] == "11774.5");
    CHECK(row[8] == "-"); // p99 of 40 slices
    CHECK_THAT(text,
               Contains("net/packet are trimmed: without up to 5 % of the slices at either end"));
}

TEST_CASE("every list of slices is sorted by cost, the programs before the kernel",
          "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices.resize(1);
    report.slices[0].name = "middle";
    report.slices[0].values[0].net->total = 500;
    add_slice(report, "kernel:send", true, 9000);
    add_slice(report, "cheap", false, -3);
    add_slice(report, "dear", false, 7000);
    for (nsdump::SliceReport &slice : report.slices)
        slice.interrupted = 1;
    report.kernel_counter_names = report.counter_names;
    std::string order;
    for (const std::string &line : lines_of(nsdump::stats_text(report)))
        for (const char *name : {"middle", "cheap", "dear", "kernel:send"})
            if (const size_t at = line.find(name); at == 0 || at == 10)
                order += std::string(name) + ' ';
    CHECK(order == "dear middle cheap dear middle cheap kernel:send kernel:send "
                   "dear middle cheap kernel:send ");
}

TEST_CASE("where net exceeds raw, the text says why", "[nsdump][text]")
{
    constexpr const char *kWhy = "net exceeds raw where a slice's two clock reads overlap";
    auto report = test_support::report_of_slices(40);
    CHECK_THAT(nsdump::stats_text(report), !Contains(kWhy));
    report.slices[0].values[0].net->trimmed_mean =
        report.slices[0].values[0].raw.trimmed_mean + 0.05; // inner is zero but for its error
    CHECK_THAT(nsdump::stats_text(report), !Contains(kWhy));
    report.slices[0].values[0].net->trimmed_mean = 130;
    CHECK_THAT(nsdump::stats_text(report), Contains(kWhy) && Contains("inner is negative"));
}

TEST_CASE("the table of an ordinary trace is at most 120 columns wide", "[nsdump][text]")
{
    auto report = test_support::varied_report();
    nsdump::FieldReport &ticks = report.slices[0].values[0];
    report.slices[0].name = "filter:BPF_FILTER";
    ticks.count = 123456789;
    for (nsdump::Distribution *values : {&ticks.raw, &*ticks.net})
        values->mean = values->trimmed_mean = 12345.6;
    ticks.net->trimmed_ci95 = 123.45;
    ticks.net->p50 = ticks.net->p99 = 123456.7;
    const Locale locale("C.UTF-8");
    for (const std::string &line : lines_of(nsdump::stats_text(report)))
        if (line.find("±95") != line.npos || line.find("BPF_FILTER") == 0)
            CHECK(nsdump::display_width(line) <= 120);
}

TEST_CASE("a long name is on a line of its own in full and does not widen the table",
          "[nsdump][text]")
{
    auto report = test_support::varied_report();
    const std::string name(300, 'n');
    report.slices[0].name = name;
    bool was_seen = false;
    for (const std::string &line : lines_of(nsdump::stats_text(report))) {
        was_seen = was_seen || line == name;
        if (line.find("±95") != line.npos)
            CHECK(line.size() < 160);
    }
    CHECK(was_seen);
}

TEST_CASE("in a UTF-8 locale a UTF-8 name is printed unchanged, and its columns are counted",
          "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "提取_é";
    const Locale locale("C.UTF-8");
    const std::string text = nsdump::stats_text(report);
    CHECK_THAT(text, Contains("\n提取_é  "));
    CHECK(nsdump::display_width("提取_é") == 6);
    CHECK(nsdump::display_width("e\xcc\x81") == 1); // combining
    CHECK(nsdump::printable("\xe2\x80\xae"
                            "abc") == "\\xe2\\x80\\xaeabc"); // would reverse the line
    CHECK(nsdump::printable("\xc2\x9b"
                            "31m") == "\\xc2\\x9b31m"); // a control character beyond ASCII
    CHECK(nsdump::printable("\xc0\xaf\xff\xed\xa0\x80") == "\\xc0\\xaf\\xff\\xed\\xa0\\x80");
    const Locale other("C");
    CHECK(nsdump::printable("é") == "\\xc3\\xa9");
}
