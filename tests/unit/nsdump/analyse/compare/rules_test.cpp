// SPDX-License-Identifier: MIT
// Every form of a rule, and where a faulty one is wrong.
#include "analyse/compare/rules.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace nsdump;

namespace
{
Rule rule_of(const std::string &text)
{
    const RuleFile file = parse_rules(text);
    for (const RuleFault &fault : file.faults)
        FAIL(fault.column << ": " << fault.what);
    REQUIRE(file.rules.size() == 1);
    return file.rules[0];
}

// "COLUMN: what"
std::string fault_of(const std::string &text)
{
    const RuleFile file = parse_rules(text);
    REQUIRE(file.faults.size() == 1);
    return std::to_string(file.faults[0].column) + ": " + file.faults[0].what;
}
} // namespace

TEST_CASE("a rule has a slice, a figure, a limit and a tolerance", "[nsdump][rules]")
{
    const Rule rule = rule_of("BPF_FILTER: instructions/packet <= 45 +0.5%");
    CHECK(rule.text == "BPF_FILTER: instructions/packet <= 45 +0.5%");
    CHECK(rule.slice.text == "BPF_FILTER");
    CHECK(rule.figure == "instructions");
    CHECK(rule.is_per_packet);
    CHECK(rule.order == RuleOrder::kAtMost);
    CHECK(rule.bound(rule.limit) == Approx(45.225));
    CHECK_FALSE(rule.is_strict);
}

TEST_CASE("statistics, ratios, baselines and counts are understood", "[nsdump][rules]")
{
    CHECK(rule_of("parse: net_ns/packet p99 <= 300").statistic == Statistic::kP99);
    const Rule ratio = rule_of("filter / parse: net_ns <= 1.2");
    CHECK(ratio.slice.text == "filter");
    REQUIRE(ratio.divisor.size() == 1);
    CHECK(ratio.divisor[0].text == "parse");
    const Rule baseline = rule_of("parse: instructions/packet <= baseline +1%");
    CHECK(baseline.is_of_baseline);
    CHECK(baseline.bound(200) == Approx(202));
    CHECK(rule_of("parse: Instructions >= baseline - 3 strict").bound(200) == 197);
    const Rule lost = rule_of("  *: lost == 0 # nothing");
    CHECK(lost.slice.is_all());
    CHECK(lost.order == RuleOrder::kEqual);
    CHECK(lost.text == "*: lost == 0");
    CHECK(rule_of("a: net_ns/slice < 1e3 strict").is_strict);
    CHECK(rule_of("a: raw_ns max > -1.5").limit == -1.5);
}

TEST_CASE("names may have colons, slashes, blanks and quotation marks", "[nsdump][rules]")
{
    CHECK(rule_of("kernel:irq: net_ns <= 1").slice.text == "kernel:irq");
    CHECK(rule_of("ns::f(int, char): net_ns <= 1").slice.text == "ns::f(int, char)");
    CHECK(rule_of("a/b: net_ns <= 1").slice.text == "a/b");
    const Rule quoted = rule_of(R"("a: \"b\" / c" / "#12": net_ns <= 1)");
    CHECK(quoted.slice.text == R"(a: "b" / c)");
    CHECK(quoted.divisor[0].text == "#12");
}

TEST_CASE("patterns match as those of recordings do, names in quotation marks literally",
          "[nsdump][rules]")
{
    CHECK(rule_of("fil*: net_ns <= 1").slice.matches("filter"));
    CHECK_FALSE(rule_of("fil?: net_ns <= 1").slice.matches("filter"));
    CHECK_FALSE(rule_of("\"fil*\": net_ns <= 1").slice.matches("filter"));
    CHECK(rule_of("\"*\": net_ns <= 1").slice.matches("*"));
}

TEST_CASE("comments, empty lines and line ends of other systems are no rules", "[nsdump][rules]")
{
    const RuleFile file = parse_rules("# costs\n\n \t\r\na: net_ns <= 1\r\nb: net_ns <= 2");
    CHECK(file.faults.empty());
    REQUIRE(file.rules.size() == 2);
    CHECK(file.rules[0].line == 4);
    CHECK(file.rules[1].text == "b: net_ns <= 2");
}

TEST_CASE("the column of a fault is where the rule is wrong", "[nsdump][rules]")
{
    CHECK(fault_of(": net_ns <= 1").starts_with("1: the name"));
    CHECK(fault_of("\"a: net_ns <= 1").starts_with("1: the name has no closing"));
    CHECK(fault_of("a net_ns <= 1").starts_with("14: a colon"));
    CHECK(fault_of("a: <= 1").starts_with("4: a figure"));
    CHECK(fault_of("a: net_ns/pkt <= 1").starts_with("11: a figure is per packet"));
    CHECK(fault_of("a: net_ns p98 <= 1").starts_with("11: not a statistic"));
    CHECK(fault_of("a: net_ns 1").starts_with("11: not a statistic"));
    CHECK(fault_of("a: net_ns = 1").starts_with("11: a comparison"));
    CHECK(fault_of("a: net_ns <= x").starts_with("14: a number"));
    CHECK(fault_of("a: net_ns <= nan").starts_with("14: a number"));
    CHECK(fault_of("a: net_ns <= 1e999").starts_with("14: a number"));
    CHECK(fault_of("a: net_ns <= 1 +%").starts_with("17: a number"));
    CHECK(fault_of("a: net_ns <= 1 +-2%").starts_with("17: a number without sign"));
    CHECK(fault_of("a: net_ns <= 1 maybe").starts_with("16: nothing, a tolerance"));
    CHECK(fault_of("a: lost == 0").starts_with("4: records are lost"));
    CHECK(fault_of("*: lost/packet == 0").starts_with("8: lost is a number"));
    CHECK(fault_of("a: count p99 == 0").starts_with("10: count is one number"));
    CHECK(fault_of("a / b: count <= 1").starts_with("8: count has no ratio"));
    CHECK(fault_of("a\x01: net_ns <= 1").starts_with("2: a control character"));
    CHECK(fault_of(std::string("a: net_ns <= 1\0", 15)).starts_with("15: a control character"));
}

TEST_CASE("each faulty line is reported, and the number of rules is bounded", "[nsdump][rules]")
{
    const RuleFile two = parse_rules("a: x\nb: net_ns <= 1\nc\n");
    REQUIRE(two.faults.size() == 2);
    CHECK(two.faults[1].line == 3);
    CHECK(two.rules.size() == 1);
    std::string many;
    for (size_t i = 0; i < kMostRules + 5; ++i)
        many += "a: net_ns <= 1\n";
    const RuleFile file = parse_rules(many);
    CHECK(file.rules.size() == kMostRules);
    REQUIRE_FALSE(file.faults.empty());
    CHECK(file.faults[0].line == kMostRules + 1);
}

TEST_CASE("a file of rules may begin with a byte order mark and have lines of Windows",
          "[nsdump][rules]")
{
    const nsdump::RuleFile file = nsdump::parse_rules("\ufeffparse: net_ns <= 1\r\n\r\n"
                                                      "# note\r\n*: lost == 0 strict\r\n");
    CHECK(file.faults.empty());
    REQUIRE(file.rules.size() == 2);
    CHECK(file.rules[0].text == "parse: net_ns <= 1");
    CHECK(file.rules[0].slice.text == "parse");
    CHECK(file.rules[1].text == "*: lost == 0 strict");
    CHECK(file.rules[1].line == 4);
    const auto faults = nsdump::parse_rules("\ufeffparse net_ns").faults;
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].column == 13); // as an editor counts
    CHECK(nsdump::parse_rules("a: net_ns <= 1\n\ufeffb: net_ns <= 1").rules.size() == 2);
}
