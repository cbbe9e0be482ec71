// SPDX-License-Identifier: MIT
// measure_source: the scenarios for which a live device's packets are sufficient.
#include "support/catch.hpp"

#include "common/command/output.hpp"
#include "mapi_cost/measure_source.hpp"
#include "mapi_cost/source/scenario.hpp"

using namespace mapi_cost;
using Catch::Matchers::Contains;

namespace
{
std::vector<Scenario> scenarios_of(int table)
{
    std::vector<Scenario> chosen;
    for (const Scenario &scenario : all_scenarios())
        if (scenario.table == table)
            chosen.push_back(scenario);
    return chosen;
}
} // namespace

TEST_CASE("scenarios that take any packets are live, the others are named with a remedy",
          "[mapi_cost][measure_source]")
{
    std::vector<Scenario> scenarios = all_scenarios();
    scenarios.push_back(own_flow("STR_SEARCH x 0 0", 1));

    const std::string note = keep_live(scenarios, {});

    std::vector<std::string> ids;
    for (const Scenario &scenario : scenarios)
        ids.push_back(scenario.id);
    CHECK(ids == std::vector<std::string>{"none", "counter", "filter", "sample", "buffer",
                                          "filter+buffer", "flow-1"});
    CHECK_THAT(note, Contains("--record") && Contains("five, search-64") &&
                         Contains("more-search-different"));
}

TEST_CASE("there is no message if everything requested is live", "[mapi_cost][measure_source]")
{
    std::vector<Scenario> scenarios = {own_flow("PKT_COUNTER", 1)};

    CHECK(keep_live(scenarios, {}).empty());
}

TEST_CASE("a named scenario, or a whole table, that cannot be live is refused",
          "[mapi_cost][measure_source]")
{
    std::vector<Scenario> all = all_scenarios();
    CHECK_THROWS_WITH(keep_live(all, {"search-64"}), Contains("search-64") && Contains("--record"));
    std::vector<Scenario> further = scenarios_of(4);
    CHECK_THROWS_AS(keep_live(further, {"table4"}), command::UsageError);
    std::vector<Scenario> plain = scenarios_of(2);
    CHECK_NOTHROW(keep_live(plain, {"table2"}));
}

TEST_CASE("a flow that begins with a filter is recognised, whatever its origin",
          "[mapi_cost][measure_source]")
{
    CHECK(own_flow("BPF_FILTER tcp | PKT_COUNTER", 1).begins_with_filter());
    CHECK_FALSE(own_flow("PKT_COUNTER | BPF_FILTER tcp", 1).begins_with_filter());
    for (const Scenario &scenario : scenarios_of(2))
        CHECK(scenario.begins_with_filter() == scenario.id.starts_with("filter"));
}

TEST_CASE("different flows have different arguments, equal flows the same",
          "[mapi_cost][measure_source]")
{
    Scenario scenario = own_flow("PKT_COUNTER", 1);
    scenario.own.clear();
    scenario.functions = {Function::kFilter, Function::kSearchAbsent, Function::kBuffer};
    const CallWords words{"tcp", "www", {"a", "b"}};

    const std::vector<Call> first = calls_of(scenario, 0, words);

    REQUIRE(first.size() == 3);
    CHECK(first[0] == Call{"BPF_FILTER", {"tcp"}});
    CHECK(first[1] == Call{"STR_SEARCH", {"a", 0, 0}});
    CHECK(calls_of(scenario, 0, words) == first);
    CHECK(calls_of(scenario, 1, words)[0] == Call{"BPF_FILTER", {"src port 2006"}});
    CHECK(calls_of(scenario, 1, words)[1] == Call{"STR_SEARCH", {"b", 0, 0}});
}
