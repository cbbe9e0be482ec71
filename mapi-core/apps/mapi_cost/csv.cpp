// SPDX-License-Identifier: MIT
// csv: results -> one line a row.
#include "csv.hpp"

#include <fmt/format.h>

namespace mapi_cost
{
namespace
{
std::string field(const std::optional<double> &value)
{
    return value ? fmt::format(",{:.6g}", *value) : ",";
}

std::string measured(const std::optional<Measured> &value)
{
    return value ? fmt::format(",{:.6f},{:.6f},{:.6f},{}", value->raw, value->net, value->ci95, value->packets) : ",,,,";
}
} // namespace

std::string csv_text(const Results &results)
{
    std::string text = "table,id,scenario,packet_bytes,"
                       "instructions_raw,instructions_net,instructions_ci95,instructions_packets,"
                       "tsc_cycles_raw,tsc_cycles_net,tsc_cycles_ci95,tsc_cycles_packets,"
                       "scampi_2004_instructions,scampi_2004_cycles,intel_2004_instructions,intel_2004_cycles,"
                       "packets_per_second\n";
    for (const Row &row : results.rows) {
        const Scenario &scenario = row.scenario;
        const PaperFigures &paper = scenario.paper;
        // Names are the program's own; those with a comma stand in quotes.
        text += fmt::format("{},{},\"{}\",{}", scenario.table, scenario.id, scenario.name,
                            scenario.frame_bytes ? std::to_string(scenario.frame_bytes) : "");
        text += measured(row.instructions) + measured(row.cycles);
        text += field(paper.scampi_instructions) + field(paper.scampi_cycles) + field(paper.intel_instructions) + field(paper.intel_cycles);
        text += field(row.rates ? std::optional(row.rates->packets_per_second) : std::nullopt) + "\n";
    }
    return text;
}
} // namespace mapi_cost
