// SPDX-License-Identifier: MIT
// Results with one row of each kind, for the tests of the outputs.
#pragma once

#include "mapi_cost/results.hpp"

namespace test_support
{
inline mapi_cost::Row example_row(const std::string &id)
{
    mapi_cost::Row row;
    for (const mapi_cost::Scenario &scenario : mapi_cost::all_scenarios())
        if (scenario.id == id)
            row.scenario = scenario;
    row.cycles = mapi_cost::Measured{12.5, 10.25, 0.5, 6400};
    return row;
}

inline mapi_cost::Results example_results()
{
    mapi_cost::Results results;
    results.survey.path = "a \"capture\".pcap";
    results.survey.packets = 100;
    results.survey.wire_bytes = 6400;
    results.clock.source = "tsc";
    results.clock.mode = "ordered";
    results.clock.hz = 2.6e9;
    results.no_instructions_why = "no counter here";
    results.totals.issued = results.totals.drained = 1000;
    results.rows = {example_row("filter"), example_row("search-1500"), example_row("more-buffer")};
    results.rows[0].parts = {{"dispatch", {}, 2.25, true},
                             {"BPF_FILTER", {}, 8.0, true},
                             {"driver_read", {}, 30.0, false}};
    results.rows[0].rates = mapi_cost::rates_of(10.25, 2.6e9, 0);
    return results;
}

// On the device eth7: two passes, with drops in each.
inline mapi_cost::Results live_example()
{
    mapi_cost::Results results = example_results();
    const mapi_cost::Arrivals timed{2, 1000, 60000, 50, 1000, {7, 0, 3}};
    const mapi_cost::Arrivals counted{2.5, 900, 54000, 90, 900, {120}};
    results.survey.name = "eth7";
    results.survey.packets = timed.packets;
    results.survey.wire_bytes = timed.wire_bytes;
    results.survey.filter = "tcp";
    results.instruction_source = "step";
    results.rows.resize(1);
    results.rows[0].arrivals = {timed, counted};
    results.live = results.rows[0].arrivals;
    return results;
}
} // namespace test_support
