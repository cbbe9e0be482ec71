// SPDX-License-Identifier: MIT
// results: the reason why a figure is missing says what to change.
#include "support/catch.hpp"

#include "mapi_cost/results.hpp"
#include "results_example.hpp"

using namespace mapi_cost;
using Catch::Matchers::Contains;

namespace
{
Results results()
{
    Results made = test_support::example_results();
    made.survey.name = "x.pcap";
    made.survey.filter = "udp port 1";
    return made;
}

Scenario scenario(const std::string &id)
{
    return test_support::example_row(id).scenario;
}
} // namespace

TEST_CASE("a filter that passes nothing is named with its capture and the option that helps",
          "[mapi_cost][results]")
{
    const std::string why =
        why_missing(scenario("filter+next-packet"), results(), NothingMeasured(0));

    CHECK_THAT(why, Contains("\"udp port 1\" passes no packet of x.pcap") && Contains("--filter"));
    CHECK_THAT(filter_note(results().survey),
               Contains("\"udp port 1\" passes no packet of x.pcap") && Contains("--filter"));
    Results some = results();
    some.survey.matches = 1;
    CHECK(filter_note(some.survey).empty());
}

TEST_CASE("too few packets for calls are named with the number that is too small",
          "[mapi_cost][results]")
{
    Results few = results();
    few.settings.packets = 32;

    CHECK_THAT(why_missing(scenario("results"), few, NothingMeasured(0)),
               Contains("--count 32 is too few"));
}

TEST_CASE("for a live device, the message says what to wait for", "[mapi_cost][results]")
{
    Results live = results();
    live.live.emplace();

    CHECK_THAT(why_missing(scenario("counter"), live, NothingMeasured(0)),
               Contains("x.pcap: too few packets arrived within 5 s") && Contains("--duration"));
    CHECK_THAT(why_missing(scenario("filter"), live, NothingMeasured(0)),
               Contains("that pass the filter") && Contains("--filter"));
}

TEST_CASE("a missing interval is reported with packets and capture, or what to wait for",
          "[mapi_cost][results]")
{
    CHECK_THAT(why_no_interval(scenario("counter"), results()),
               Contains("--count 200000 of x.pcap") && Contains("increase --count"));
    Results live = results();
    live.live.emplace();
    CHECK_THAT(why_no_interval(scenario("counter"), live),
               Contains("x.pcap: too few packets arrived within 5 s") && Contains("--duration"));
}

TEST_CASE("if all units were left out, their number is reported", "[mapi_cost][results]")
{
    CHECK_THAT(why_missing(scenario("counter"), results(), NothingMeasured(7)),
               Contains("all 7 measured units") && Contains("again"));
}

TEST_CASE("a row without figures for another reason names packets and capture",
          "[mapi_cost][results]")
{
    CHECK_THAT(why_missing(scenario("counter"), results(), NothingMeasured(0)),
               Contains("--count 200000 of x.pcap"));
}
