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
