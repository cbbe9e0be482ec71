// SPDX-License-Identifier: MIT
#include "own_flow.hpp"

#include "support/catch.hpp"

using namespace mapi_cost;

TEST_CASE("functions of a flow are words as in a shell, each behind a bar", "[mapi_cost][own_flow]")
{
    const Scenario scenario = own_flow("BPF_FILTER 'tcp port 80 or \"x\"'|STR_SEARCH \"a|b\" 0 0x5dc | PKT_COUNTER", 3);
    CHECK(scenario.id == "flow-3");
    CHECK(scenario.name == "BPF_FILTER + STR_SEARCH + PKT_COUNTER");
    CHECK(scenario.own == std::vector<Call>{{"BPF_FILTER", {"tcp port 80 or \"x\""}},
                                            {"STR_SEARCH", {"a|b", std::int64_t{0}, std::int64_t{1500}}},
                                            {"PKT_COUNTER"}});
}

TEST_CASE("a function before it is named by its place, once for a flow and its function", "[mapi_cost][own_flow]")
{
    const Scenario scenario = own_flow("PKTINFO 1 | STATS @1 0 | THRESHOLD 2 @1 18446744073709551615 1 0 0 1 | RES2FILE 1,1 @1,@2 '' rows 1s", 1);
    CHECK(scenario.own[1].arguments == std::vector<Argument>{Steps{'r', {1}}, Steps{'f', {1}}, "0"});
    CHECK(scenario.own[2].arguments[3] == Argument(std::int64_t{-1}));
    CHECK(scenario.own[3].arguments[1] == Argument(Steps{'S', {1, 2}}));
}

TEST_CASE("arguments that may be left out may be left out", "[mapi_cost][own_flow]")
{
    CHECK(own_flow("TO_BUFFER", 1).own[0].arguments.empty());
    CHECK(own_flow("TO_BUFFER 1", 1).own[0].arguments.size() == 1);
}

TEST_CASE("what is wrong with a flow is named", "[mapi_cost][own_flow]")
{
    const auto why = [](const char *text) -> std::string {
        try {
            own_flow(text, 1);
        } catch (const OwnFlowError &error) {
            return error.what();
        }
        return "";
    };
    CHECK(why("") == "no function stands before a bar or the end");
    CHECK(why("PKT_COUNTER |") == "no function stands before a bar or the end");
    CHECK(why("NO_SUCH 1") == "\"NO_SUCH\" is no function of libmapi; mapi(3) names them");
    CHECK(why("BPF_FILTER 'tcp") == "a quotation mark ' is not closed");
    CHECK(why("STR_SEARCH a 0") == "STR_SEARCH: an argument is missing behind \"0\" (sii)");
    CHECK(why("STR_SEARCH a 0 x") == "\"x\" is no int");
    CHECK(why("PKTINFO 99999999999") == "\"99999999999\" is no int");
    CHECK(why("PKT_COUNTER 1") == "PKT_COUNTER: takes no argument \"1\" ()");
    CHECK(why("STATS @1 0") == "\"@1\" names no function of the flow before it; the first is @1");
    CHECK(why("PKTINFO 1 | STATS @2 0") == "\"@2\" names no function of the flow before it; the first is @1");
    CHECK(why("PKTINFO 1 | STATS 1 0") == "\"1\" names no function of the flow before it; the first is @1");
}
