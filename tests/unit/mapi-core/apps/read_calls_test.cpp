// SPDX-License-Identifier: MIT
#include "flow_expression/read_calls.hpp"

#include "mapi_cost/source/scenario.hpp"
#include "support/catch.hpp"

using namespace flow_expression;

TEST_CASE("functions of a flow are words, separated by blanks or line breaks, each after a bar",
          "[flow_expression]")
{
    CHECK(read_calls("BPF_FILTER tcp |\r\n\tPKT_COUNTER\n") ==
          std::vector<Call>{{"BPF_FILTER", {"tcp"}}, {"PKT_COUNTER"}});
    CHECK(
        read_calls("BPF_FILTER 'tcp port 80 or \"x\"'|STR_SEARCH \"a|b\" 0 0x5dc | PKT_COUNTER") ==
        std::vector<Call>{{"BPF_FILTER", {"tcp port 80 or \"x\""}},
                          {"STR_SEARCH", {"a|b", int64_t{0}, int64_t{1500}}},
                          {"PKT_COUNTER"}});
}

TEST_CASE("an earlier function is referred to by its position, also with the number of its flow",
          "[flow_expression]")
{
    const std::vector<Call> calls =
        read_calls("PKTINFO 1 | STATS @1 0 | THRESHOLD 2 @1 18446744073709551615 1 0 0 1 | "
                   "RES2FILE 1,1 @1,@2 '' rows 1s");
    CHECK(calls[1].arguments == std::vector<Argument>{Steps{'r', {1}}, Steps{'f', {1}}, "0"});
    CHECK(calls[2].arguments[3] == Argument(int64_t{-1}));
    CHECK(calls[3].arguments[1] == Argument(Steps{'S', {1, 2}}));
}

TEST_CASE("optional arguments may be left out", "[flow_expression]")
{
    CHECK(read_calls("TO_BUFFER")[0].arguments.empty());
    CHECK(read_calls("TO_BUFFER 1")[0].arguments.size() == 1);
}

TEST_CASE("an error in a flow is named", "[flow_expression]")
{
    const auto why = [](const char *text) -> std::string {
        try {
            read_calls(text);
        } catch (const ExpressionError &error) {
            return error.what();
        }
        return "";
    };
    CHECK(why("") == "the flow is empty (specify a function, such as PKT_COUNTER)");
    CHECK(why("PKT_COUNTER |") ==
          "a function is missing before or after \"|\" (add one, or remove the bar)");
    CHECK_THAT(why("NO_SUCH 1"), Catch::StartsWith("unknown function \"NO_SUCH\"; available: ") &&
                                     Catch::Contains("BPF_FILTER, "));
    CHECK(why("BPF_FILTER 'tcp") == "unmatched quotation mark ' (add the closing one)");
    CHECK(why("STR_SEARCH a 0") ==
          "STR_SEARCH: missing argument after \"0\" (takes a string, an int, an int, optionally a "
          "string; see mapi(3))");
    CHECK(read_calls("STR_SEARCH a 0 0 nocase") ==
          std::vector<Call>{{"STR_SEARCH", {"a", int64_t{0}, int64_t{0}, "nocase"}}});
    CHECK(why("STR_SEARCH a 0 x") == "STR_SEARCH: \"x\" is not an int (see mapi(3))");
    CHECK(why("PKTINFO 99999999999") == "PKTINFO: \"99999999999\" is not an int (see mapi(3))");
    CHECK(why("PKT_COUNTER 1") ==
          "PKT_COUNTER: unexpected argument \"1\" (takes no arguments; see mapi(3))");
    CHECK(why("STATS @1 0") ==
          "STATS: \"@1\" does not refer to an earlier function of the flow (the first is @1)");
    CHECK(why("PKTINFO 1 | STATS @2 0") ==
          "STATS: \"@2\" does not refer to an earlier function of the flow (the first is @1)");
    CHECK(why("PKTINFO 1 | STATS 1 0") ==
          "STATS: \"1\" does not refer to an earlier function of the flow (the first is @1)");
}

TEST_CASE("a flow of the user is a scenario of mapi-cost with its number and functions",
          "[mapi_cost][flow_expression]")
{
    const mapi_cost::Scenario scenario = mapi_cost::own_flow("BPF_FILTER tcp | PKT_COUNTER", 3);
    CHECK(scenario.id == "flow-3");
    CHECK(scenario.name == "BPF_FILTER + PKT_COUNTER");
    CHECK(scenario.own.size() == 2);
}
