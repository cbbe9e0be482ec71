// SPDX-License-Identifier: MIT
// scenario: the paper's figures follow the additive model that the paper's text implies.
#include "support/catch.hpp"

#include <algorithm>
#include <set>

#include "mapi_cost/source/scenario.hpp"

using namespace mapi_cost;

namespace
{
const Scenario &scenario(const std::string &id)
{
    const auto &all = all_scenarios();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Scenario &one) { return one.id == id; });
    REQUIRE(found != all.end());
    return *found;
}

double scampi(const std::string &id)
{
    return net_of_papi(scenario(id)).scampi_instructions.value();
}
} // namespace

TEST_CASE("scenarios have the rows of the three tables, each with a distinct name",
          "[mapi_cost][scenario]")
{
    std::set<std::string> ids;
    int rows[5] = {};
    for (const Scenario &one : all_scenarios()) {
        ids.insert(one.id);
        ++rows[one.table];
    }
    CHECK(ids.size() == all_scenarios().size());
    CHECK(rows[2] == 13);
    CHECK(rows[3] == 3);
    CHECK(rows[4] == 6);
}

TEST_CASE("each function of a row with several has a companion by itself on the same packets",
          "[mapi_cost][scenario]")
{
    std::vector<std::string> names;
    std::set<std::string> ids;
    for (const Scenario &one : companions_of(all_scenarios())) {
        names.push_back(one.name + (one.traffic == Traffic::kMatching ? "" : ", made"));
        ids.insert(one.id);
        CHECK(one.table == kModelTable);
        CHECK(one.functions.size() == 1);
    }
    CHECK(names == std::vector<std::string>{"BPF_FILTER", "TO_BUFFER", "BPF_FILTER, made",
                                            "SAMPLE_PACKETS, made", "STR_SEARCH, made",
                                            "TO_BUFFER, made"});
    CHECK(ids.size() == names.size());
    CHECK(companions_of({scenario("five"), scenario("filter")}).empty()); // nothing to compare with
}

TEST_CASE("the figures of 2004 add up: two functions together cost the sum of each by itself",
          "[mapi_cost][scenario]")
{
    const double base = scampi("none");

    CHECK(base == 56);
    CHECK(scampi("filter+buffer") - base == (scampi("filter") - base) + (scampi("buffer") - base));
}

TEST_CASE("a further flow of 2004 cost as much as its function and 21 instructions",
          "[mapi_cost][scenario]")
{
    CHECK(scampi("more-counter") == scampi("counter") - scampi("none") + 21);
    CHECK(scampi("more-buffer") == scampi("buffer") - scampi("none") + 21);
}

TEST_CASE("differences contain no PAPI reads, and none is subtracted from them",
          "[mapi_cost][scenario]")
{
    const Scenario &further = scenario("more-search-different");
    const Scenario &plain = scenario("search-1500");

    CHECK(net_of_papi(further).scampi_instructions == 18156);
    CHECK(net_of_papi(plain).scampi_instructions == 18459 - 265);
    CHECK(net_of_papi(plain).intel_cycles == 15600 - 700);
}

TEST_CASE("figures that the paper does not give stay unknown", "[mapi_cost][scenario]")
{
    CHECK_FALSE(net_of_papi(scenario("more-buffer")).intel_instructions);
    CHECK_FALSE(net_of_papi(scenario("next-packet")).scampi_cycles);
}
