// SPDX-License-Identifier: MIT
// Judged rules as text, Markdown and JUnit XML.
#include "export/gate.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "compare/made_up_report.hpp"

using namespace nsdump;
using namespace test_support;

namespace
{
struct Example {
    Runs runs{report_of({slice_of("parse", 100, 2), slice_of("a|b<&\"\x01", 5, 0)})};
    std::vector<Rule> rules = parse_rules("parse: net_ns <= 200\n"
                                          "parse: net_ns <= 101\n"
                                          "*: instructions <= 300\n"
                                          "a*: net_ns <= 4\n"
                                          "scan: net_ns <= 4\n")
                                  .rules;
    std::vector<GateResult> results = judge_rules(rules, runs, {}, {});
};
} // namespace

TEST_CASE("text has every rule with what was measured", "[nsdump][gate]")
{
    const Example example;
    const std::string text = gate_text(example.results, false);
    CHECK(text.find("holds               parse: net_ns <= 200\n"
                    "                    100 ± 2 ns, limit 200\n") != std::string::npos);
    CHECK(text.find("undecided           parse: net_ns <= 101\n") != std::string::npos);
    CHECK(text.find("holds               parse: *: instructions <= 300\n") != std::string::npos);
    CHECK(text.ends_with("3 held, 1 undecided, 2 failed\n"));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(gate_text(example.results, true).find("\x1b[31mbroken") != std::string::npos);
}

TEST_CASE("Markdown has what does not hold, without markup from names", "[nsdump][gate]")
{
    const Example example;
    const std::string text = gate_markdown(example.results, "costs.rules");
    CHECK(text.starts_with("**nsdump gate** costs.rules: 3 held, 1 undecided, 2 failed\n"));
    CHECK(
        text.find("| broken | a\\|b\\<\\&\"\\\\x01 | a\\*: net\\_ns \\<= 4 | 5 ns, limit 4 |\n") !=
        std::string::npos);
    CHECK(text.find("parse: instructions") == std::string::npos);
    const std::vector<GateResult> held(example.results.begin(), example.results.begin() + 1);
    CHECK(gate_markdown(held, "r") == "**nsdump gate** r: 1 held, 0 undecided, 0 failed\n");
}

TEST_CASE("JUnit counts its cases and failures and escapes names", "[nsdump][gate]")
{
    const Example example;
    const std::string text = gate_junit(example.results, "costs.rules");
    CHECK(text.find("tests=\"6\" failures=\"2\" errors=\"0\"") != std::string::npos);
    CHECK(text.find("name=\"a|b&lt;&amp;&quot;\\x01: a*: net_ns &lt;= 4\"") != std::string::npos);
    CHECK(text.find("<failure type=\"broken\" message=\"5 ns, limit 4\">5 ns, limit 4</failure>") !=
          std::string::npos);
    CHECK(text.find("<failure type=\"not judged\" message=\"no such slice in made-up.nsl\">") !=
          std::string::npos);
}
