// SPDX-License-Identifier: MIT
// Comparisons as text, CSV and JSON.
#include "export/comparison.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "compare/made_up_report.hpp"

using namespace nsdump;
using namespace test_support;

namespace
{
struct Example {
    Runs first{report_of({slice_of("parse", 100, 1, 300), slice_of("x,\x1b[2J", 100, 1)}, "a.nsl")};
    Runs second{report_of({slice_of("parse", 200, 1, 301)}, "b.nsl")};
    std::vector<Comparison> all = compare(first, second, {});
    Compared compared{first, second, all, {}};
};

// Without the padding of columns.
std::string single_blanks(const std::string &text)
{
    std::string out;
    for (const char letter : text)
        if (letter != ' ' || out.empty() || out.back() != ' ')
            out += letter;
    return out;
}
} // namespace

TEST_CASE("the table shows each figure with its verdict", "[nsdump][compare]")
{
    const Example example;
    const std::string text = single_blanks(comparison_text(example.compared, false));
    CHECK(text.find("parse ns/packet 100.00 200.00 +100.00 ") != std::string::npos);
    CHECK(text.find("parse INSTRUCTIONS/packet 300.00 301.00 +1.00 exact +0.33 slower\n") !=
          std::string::npos);
    CHECK(text.find("not comparable: not in b.nsl") != std::string::npos);
    CHECK(text.find("the variance between runs is unknown; 5 % is assumed") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(comparison_text(example.compared, true).find("\x1b[31mslower\x1b[0m") !=
          std::string::npos);
}

TEST_CASE("CSV has a row for each comparison, with empty fields for what is unknown",
          "[nsdump][compare]")
{
    const Example example;
    const std::string csv = comparison_csv(example.compared);
    CHECK(csv.find("parse,0,INSTRUCTIONS,INSTRUCTIONS/packet,300,301,1,0,0.3333333333,1,0,slower,"
                   "\n") != std::string::npos);
    CHECK(csv.find("\"x,\x1b[2J\",0,ticks,ns,,,,,,0,,not comparable,not in b.nsl\n") !=
          std::string::npos);
}

TEST_CASE("JSON has the same comparisons, with null for what is unknown", "[nsdump][compare]")
{
    const Example example;
    const auto json = nlohmann::json::parse(comparison_json(example.compared));
    CHECK(json.at("schema") == "netslice-diff-1");
    CHECK(json.at("first") == nlohmann::json::array({"a.nsl"}));
    CHECK(json.at("run_spread_assumed") == 0.05);
    const auto &all = json.at("comparisons");
    REQUIRE(all.size() == 4);
    CHECK(all[0].at("verdict") == "slower");
    CHECK(all[0].at("difference") == Approx(100));
    CHECK(all[2].at("difference").is_null());
    CHECK(all[2].at("why") == "not in b.nsl");
}
