// SPDX-License-Identifier: MIT
#include "export/exporter.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

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
    CHECK_THAT(text, Contains("unit      batch: 1 units, 64 packets, 4096 bytes"));
}

TEST_CASE("a name that would drive the terminal is shown, not obeyed", "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "\x1b[31mred";
    report.info["machine.cpu"] = "\x1b]0;title\x07";
    CHECK_THAT(nsdump::stats_text(report), !Contains("\x1b"));
}

namespace
{
// For the test's time.
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

TEST_CASE("a long name stands whole on a line of its own and widens no table", "[nsdump][text]")
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

TEST_CASE("a name in UTF-8 stands as it is in a UTF-8 locale, by its columns", "[nsdump][text]")
{
    auto report = test_support::varied_report();
    report.slices[0].name = "提取_é";
    const Locale locale("C.UTF-8");
    const std::string text = nsdump::stats_text(report);
    CHECK_THAT(text, Contains("\n提取_é  "));
    CHECK(nsdump::display_width("提取_é") == 6);
    CHECK(nsdump::display_width("e\xcc\x81") == 1); // combining
    CHECK(nsdump::printable("\xe2\x80\xae" "abc") == "\\xe2\\x80\\xaeabc"); // would turn the line round
    CHECK(nsdump::printable("\xc2\x9b" "31m") == "\\xc2\\x9b31m");             // a control beyond ASCII
    CHECK(nsdump::printable("\xc0\xaf\xff\xed\xa0\x80") == "\\xc0\\xaf\\xff\\xed\\xa0\\x80");
    const Locale other("C");
    CHECK(nsdump::printable("é") == "\\xc3\\xa9");
}
