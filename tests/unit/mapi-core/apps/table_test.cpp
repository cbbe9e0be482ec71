// SPDX-License-Identifier: MIT
// table: text for a terminal of 120 columns; packets and losses of a live device.
#include "support/catch.hpp"

#include <algorithm>
#include <sstream>

#include "mapi_cost/output/text.hpp"
#include "results_example.hpp"

using namespace mapi_cost;
using Catch::Matchers::Contains;

namespace
{
size_t columns_of(const std::string &line)
{
    return size_t(std::count_if(line.begin(), line.end(),
                                [](char letter) { return (letter & 0xc0) != 0x80; }));
}
} // namespace

TEST_CASE("no line of the tables is longer than 120 columns", "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.instruction_source = "step";
    for (const Scenario &scenario : all_scenarios()) {
        Row row = test_support::example_row(scenario.id);
        row.instructions = Measured{18459.25, 18194.5, 120.25, 640};
        row.cycles = Measured{123456.25, 123400.5, 1234.5, 640};
        row.rates = rates_of(0.5, 2.6e9, scenario.frame_bytes);
        results.rows.push_back(row);
    }
    for (Row &row : results.rows) {
        row.reach.assign(row.scenario.functions.size(), {"", 100, 100});
        row.counted_reach = row.reach;
        row.bytes = {400, 600};
    }
    results.models = additive_models(results.rows);
    REQUIRE(results.models.cycles);
    for (const std::string &all : {details_text(results), summary_text(results)}) {
        std::istringstream text(all);
        for (std::string line; std::getline(text, line);) {
            CAPTURE(line);
            CHECK(columns_of(line) <= 120);
        }
    }
}

TEST_CASE("the summary has the tables and a line for each finding, but no model and no parts",
          "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.totals.drifts = 1;
    results.totals.timed_sessions = 3;
    results.notes = {"A note."};
    const std::string text = summary_text(results);

    CHECK_THAT(text, Contains("Table 2:") && Contains("10.2 ± 0.5") && Contains("\nA note.\n"));
    CHECK_THAT(text, Contains("Calibration drift of more than 2 % in 1 of 3 sessions"));
    CHECK_THAT(text, !Contains("Parts:") && !Contains("residual") && !Contains("MISSED"));
    CHECK_THAT(text, Contains("1000 issued"));
    CHECK_THAT(text, Contains("no instructions: no counter here"));
    CHECK(text.find("Table 2:") < 500);
}

TEST_CASE("the summary says in one line that scenarios contradict the additive model",
          "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    AdditiveModel model;
    model.rows.resize(4);
    model.rows[1].verdict = Verdict::kMissed;
    results.models.cycles = model;
    CHECK_THAT(summary_text(results), Contains("TSC cycles: the costs of functions do not simply "
                                               "add up: 1 of 4 scenarios"));
    results.models.cycles->rows[1].verdict = Verdict::kAgrees;
    CHECK_THAT(summary_text(results), !Contains("add up"));
}

TEST_CASE("without a source of instructions there is the reason instead of a column",
          "[mapi_cost][table]")
{
    const std::string text = details_text(test_support::example_results());

    CHECK(text.find("instr.") == std::string::npos);
    CHECK(text.find("none: no counter here") != std::string::npos);
}

TEST_CASE("the table shows the figures of 2004 without the PAPI reads", "[mapi_cost][table]")
{
    const std::string text = details_text(test_support::example_results());

    CHECK(text.find("1300   2100") !=
          std::string::npos); // BPF_FILTER: 2000 - 700, 2800 - 700 cycles
}

TEST_CASE("an unknown interval is a dash", "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.rows[0].cycles->ci95 = std::nullopt;
    const std::string text = details_text(results);

    CHECK(text.find("    10.2 ± -") != std::string::npos);
    CHECK(text.find("10.2 ± 0.5") != std::string::npos); // of the other rows
}

TEST_CASE("losses are reported with their cause", "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.totals.drained = 990;
    results.totals.lost[NSLICE_LOST_FULL] = 10;

    CHECK(details_text(results).find("1000 issued, 990 drained, 10 lost (10 full)") !=
          std::string::npos);
}

TEST_CASE("drops are reported with their causes, or that there are none", "[mapi_cost][table]")
{
    CHECK(drops_text({}) == "none");
    CHECK(drops_text(test_support::live_example().live->timed) == "7 kernel, 3 buffer full");
}

TEST_CASE("a row of a live device has driver cost, packets, batches and drops for both passes",
          "[mapi_cost][table]")
{
    const std::string text = live_text(test_support::live_example());

    //                            driver    packets  a second  a batch   kernel     ours    packets
    //                            a batch   kernel
    CHECK_THAT(text, Contains("BPF_FILTER                         30.0 |     1000      500     "
                              "20.0        7        3 |      900     10.0      120\n"));
}

TEST_CASE("without instructions there are no columns for their pass, and without a device no table",
          "[mapi_cost][table]")
{
    Results results = test_support::live_example();
    results.instruction_source.clear();
    CHECK_THAT(live_text(results), !Contains("120") && Contains("20.0"));
    CHECK(live_text(test_support::example_results()).empty());
}

TEST_CASE("the head names device, time, packets, batches and drops", "[mapi_cost][table]")
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
