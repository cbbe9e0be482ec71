// SPDX-License-Identifier: MIT
// table: text for a terminal of 120 columns.
#include "support/catch.hpp"

#include <algorithm>
#include <sstream>

#include "mapi_cost/output/table.hpp"
#include "results_example.hpp"

using namespace mapi_cost;

namespace
{
std::size_t columns_of(const std::string &line)
{
    return std::size_t(std::count_if(line.begin(), line.end(),
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
    std::istringstream text(table_text(results));
    for (std::string line; std::getline(text, line);) {
        CAPTURE(line);
        CHECK(columns_of(line) <= 120);
    }
}

TEST_CASE("without a source of instructions there is the reason instead of a column",
          "[mapi_cost][table]")
{
    const std::string text = table_text(test_support::example_results());

    CHECK(text.find("instr.") == std::string::npos);
    CHECK(text.find("none: no counter here") != std::string::npos);
}

TEST_CASE("the table shows the figures of 2004 without the PAPI reads", "[mapi_cost][table]")
{
    const std::string text = table_text(test_support::example_results());

    CHECK(text.find("1300   2100") !=
          std::string::npos); // BPF_FILTER: 2000 - 700, 2800 - 700 cycles
}

TEST_CASE("an unknown interval is a dash", "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.rows[0].cycles->ci95 = std::nullopt;
    const std::string text = table_text(results);

    CHECK(text.find("    10.2 ± -") != std::string::npos);
    CHECK(text.find("10.2 ± 0.5") != std::string::npos); // of the other rows
}

TEST_CASE("losses are reported with their cause", "[mapi_cost][table]")
{
    Results results = test_support::example_results();
    results.totals.drained = 990;
    results.totals.lost[NSLICE_LOST_FULL] = 10;

    CHECK(table_text(results).find("1000 issued, 990 drained, 10 lost (10 full)") !=
          std::string::npos);
}
