// SPDX-License-Identifier: MIT
// report: results -> texts.
#include "support/catch.hpp"

#include <algorithm>

#include "report.hpp"

using namespace snort2sids;

namespace
{
std::vector<Result> example()
{
    const Settings settings;
    const Variables variables;
    Collection collection(settings, variables);
    uint64_t number = 0;
    for (const char *const text : {"alert ip any any  -> any any (tag:session,5,packets; sid:7;)",
                                   "alert ip any any -> any any (dce_iface:x; sid:8;)",
                                   "alert ip any any -> any any (dce_iface:y; gid:3; sid:9;)",
                                   "alert ip any any -> any any (dsize:x; sid:10;)"}) {
        const Line line = {text, {{0, ++number, 0, text}}, "a.rules"};
        collection.add({line, 0, "alert"});
    }
    return collection.results();
}
} // namespace

TEST_CASE("rules are lines, with comments on request", "[snort2sids][report]")
{
    CHECK(rules_text(example(), false) == "count ip or ip6; id: 7;\n");
    CHECK(rules_text(example(), true) ==
          "# a.rules:1:1: alert ip any any  -> any any\ncount ip or ip6; id: 7;\n");
}

TEST_CASE("a summary counts by reason, the most frequent first", "[snort2sids][report]")
{
    CHECK(summary_text(example(), {{"config", 3}}) ==
          "snort2sids: 1 of 4 rules converted, 3 refused\n"
          "refused (--explain SID shows one):\n"
          "       2 dce_iface: contexts and fragments of DCE/RPC are not followed\n"
          "       1 malformed dsize\n"
          "notes on converted rules, which match the same packets:\n"
          "       1 tag: an action that a passive monitor does not take\n"
          "lines skipped:\n"
          "       3 config\n");
    CHECK(
        refused_text(example()) ==
        "a.rules:2:30: sid 8: dce_iface: contexts and fragments of DCE/RPC are not followed\n"
        "a.rules:3:30: gid 3 sid 9: dce_iface: contexts and fragments of DCE/RPC are not followed\n"
        "a.rules:4:36: sid 10: malformed dsize: \"x\"\n");
}

TEST_CASE("a summary says when there are more rules than sids accepts", "[snort2sids][report]")
{
    const std::vector<Result> most(32767, example().front());
    CHECK(summary_text(most, {}).find("at most") == std::string::npos);
    const std::vector<Result> too_many(32768, example().front());
    CHECK(summary_text(too_many, {})
              .find("sids accepts at most 32767 rules at once: divide them "
                    "among several files\n") != std::string::npos);
}

TEST_CASE("an explanation shows the rule and its conversion, or the place of the reason",
          "[snort2sids][report]")
{
    CHECK(explanation_text(example(), 7) ==
          "a.rules:1:1: sid 7 is converted\n"
          "  alert ip any any  -> any any (tag:session,5,packets; sid:7;)\n"
          "becomes\n"
          "  count ip or ip6; id: 7;\n"
          "note: tag: an action that a passive monitor does not take\n");
    CHECK(explanation_text(example(), 10) ==
          "a.rules:4:36: sid 10 is refused: malformed dsize: \"x\"\n"
          "  alert ip any any -> any any (dsize:x; sid:10;)\n"
          "                                     ^\n");
    CHECK(explanation_text(example(), 1).empty());
}

TEST_CASE("equal errors are shown once, and at most 20", "[snort2sids][report]")
{
    std::vector<RuleFiles::Problem> problems = {{{"a", 1, 1, "x"}, "wrong", 3}};
    CHECK(problems_text(problems) == "a:1:1: wrong, also in 2 other lines\n  x\n  ^\n");
    problems.clear();
    for (int i = 0; i < 25; ++i)
        problems.push_back({{"a", 1, 1, "x"}, "wrong " + std::to_string(i)});
    const std::string text = problems_text(problems);
    CHECK(std::count(text.begin(), text.end(), '^') == 20);
    CHECK(text.ends_with("and 5 more errors\n"));
}
