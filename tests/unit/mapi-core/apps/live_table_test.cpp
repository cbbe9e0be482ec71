// SPDX-License-Identifier: MIT
// live_table: packets and losses, as text for a terminal.
#include "support/catch.hpp"

#include "mapi_cost/output/live_table.hpp"
#include "mapi_cost/output/table_head.hpp"
#include "results_example.hpp"

using namespace mapi_cost;
using Catch::Matchers::Contains;

TEST_CASE("drops are reported with their causes, or that there are none", "[mapi_cost][live_table]")
{
    CHECK(drops_text({}) == "none");
    CHECK(drops_text(test_support::live_example().live->timed) == "7 kernel, 3 buffer full");
}

TEST_CASE("a row of a live device has driver cost, packets, batches and drops for both passes",
          "[mapi_cost][live_table]")
{
    const std::string text = live_text(test_support::live_example());

    //                            driver    packets  a second  a batch   kernel     ours    packets
    //                            a batch   kernel
    CHECK_THAT(text, Contains("BPF_FILTER                         30.0 |     1000      500     "
                              "20.0        7        3 |      900     10.0      120\n"));
}

TEST_CASE("without instructions there are no columns for their pass, and without a device no table",
          "[mapi_cost][live_table]")
{
    Results results = test_support::live_example();
    results.instruction_source.clear();
    CHECK_THAT(live_text(results), !Contains("120") && Contains("20.0"));
    CHECK(live_text(test_support::example_results()).empty());
}

TEST_CASE("the head names device, time, packets, batches and drops", "[mapi_cost][live_table]")
{
    const std::string text = head_text(test_support::live_example());

    CHECK_THAT(text,
               Contains("live device   eth7: 1000 packets, 60000 bytes, 60 bytes on average"));
    CHECK_THAT(text, Contains("in 2.0 s, each row until 5 s have passed or 200000 packets have "
                              "arrived; 20.0 packets per batch on average"));
    CHECK_THAT(
        text,
        Contains("on a network interface, the kernel applies it to flows that begin with it"));
    CHECK_THAT(
        text,
        Contains(
            "dropped       7 kernel, 3 buffer full; while instructions were counted: 120 kernel"));
    CHECK_THAT(text, Contains("batch of up to 64 packets") && !Contains("capture"));
}
