// SPDX-License-Identifier: MIT
// json: the shape of netslice-mapi-cost-1.
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include "mapi_cost/output/text.hpp"
#include "results_example.hpp"

using nlohmann::json;
using namespace mapi_cost;

TEST_CASE("what was not measured is null, never zero", "[mapi_cost][json]")
{
    const json document = json::parse(json_text(test_support::example_results()));

    CHECK(document["sources"]["instructions"].is_null());
    CHECK(document["sources"]["no_instructions_why"] == "no counter here");
    const json &row = document["rows"][0];
    CHECK(row["instructions"].is_null());
    CHECK(row["packet_bytes"].is_null());
    CHECK(row["parts"][0]["instructions"].is_null());
    CHECK(document["rows"][0]["cycles"]["ci95"] == 0.5);
    CHECK(document["rows"][2]["rates"].is_null());
    CHECK(document["rows"][2]["paper"]["intel_instructions"].is_null());
}

TEST_CASE("an unknown interval is null", "[mapi_cost][json]")
{
    Results results = test_support::example_results();
    results.rows[0].cycles->ci95 = std::nullopt;
    const json document = json::parse(json_text(results));

    CHECK(document["rows"][0]["cycles"]["net"] == 10.25);
    CHECK(document["rows"][0]["cycles"]["ci95"].is_null());
}

TEST_CASE("figures of 2004 are as printed, and marked as such", "[mapi_cost][json]")
{
    const json document = json::parse(json_text(test_support::example_results()));

    CHECK(document["schema"] == "netslice-mapi-cost-1");
    CHECK(document["rows"][1]["paper"]["scampi_instructions"] == 18459);
    CHECK(document["rows"][1]["paper"]["net_of_papi"] == false);
    CHECK(document["rows"][1]["packet_bytes"] == 1500);
    CHECK(document["rows"][1]["cycles"]["net"] == 10.25);
    CHECK(document["rows"][0]["rates"]["lines"].size() == 6);
}

TEST_CASE("cycles are named by their kind", "[mapi_cost][json]")
{
    const json document = json::parse(json_text(test_support::example_results()));

    CHECK(document["sources"]["cycles"] == "TSC cycles, 2.600 GHz, not core cycles");
}

TEST_CASE("a source of instructions is named with each count", "[mapi_cost][json]")
{
    Results results = test_support::example_results();
    results.instruction_source = "step";
    results.rows[0].instructions = Measured{42.5, 41.5, 0.25, 640};
    const json document = json::parse(json_text(results));

    CHECK(document["sources"]["instructions"] == "step: exact, single-stepped");
    CHECK(document["rows"][0]["instructions"]["packets"] == 640);
    CHECK(document["rows"][1]["instructions"].is_null());
}

TEST_CASE("the additive model has null for each undetermined term, and the terms of 2004",
          "[mapi_cost][json]")
{
    Results results = test_support::example_results();
    results.models.cycles = additive_model(
        {{results.rows[0].scenario, {{Term::kBase, 1}, {Term::kFilter, 1}}, 10, 1}}, 1);
    const json additive = json::parse(json_text(results))["additive"];

    CHECK(additive["instructions"].is_null());
    CHECK(additive["least_error"] == 0.05);
    CHECK(additive["cycles"]["terms"][1]["id"] == "filter");
    CHECK(additive["cycles"]["terms"][1]["cost"].is_null());
    CHECK(additive["cycles"]["scenarios"][0]["verdict"] == "untested");
    CHECK(additive["cycles"]["scenarios"][0]["residual"].is_null());
    CHECK(additive["paper"]["intel_instructions"].size() == 10);
}

TEST_CASE("packets of a live device are given in total and for each row, for a capture not at all",
          "[mapi_cost][json]")
{
    const json document = json::parse(json_text(test_support::live_example()));
    const json &live = document["live"];

    CHECK(live["interface"] == "eth7");
    CHECK(live["seconds_per_pass"] == 5);
    CHECK(live["timed"]["packets_per_batch"] == 20);
    CHECK(live["counted"]["drops"]["kernel"] == 120);
    CHECK(document["rows"][0]["live"]["timed"] == live["timed"]);
    CHECK(live["timed"]["drops"].size() == kDropCauses);
    CHECK(document["capture"]["filter_packets"].is_null());
    const json other = json::parse(json_text(test_support::example_results()));
    CHECK(other["live"].is_null());
    CHECK(other["rows"][0]["live"].is_null());
}

TEST_CASE("a device without packets has no mean size, and a pass that was not made is null",
          "[mapi_cost][json]")
{
    Results results = test_support::live_example();
    results.survey.packets = 0;
    results.live->counted = {};
    const json document = json::parse(json_text(results));

    CHECK(document["capture"]["mean_bytes"].is_null());
    CHECK(document["live"]["counted"].is_null());
}
