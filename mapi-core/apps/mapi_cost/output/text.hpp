// SPDX-License-Identifier: MIT
// text: results -> a table, JSON, or CSV.
#pragma once

#include <string>
#include <vector>

#include "mapi_cost/results.hpp"

namespace mapi_cost
{
// At most 120 columns.  What was measured, on what; the tables; one line for each finding.
std::string summary_text(const Results &results);
// The same with how the figures were obtained, the additive model, and the parts of each scenario.
std::string details_text(const Results &results);

// The lines above the tables: capture or device, machine, sources, losses; all, or three.
std::string head_text(const Results &results);
std::string summary_head_text(const Results &results);
// The lines below the tables: notes; what the reader of the tables has to know, one line each.
std::string notes_text(const Results &results);
std::string findings_text(const Results &results);

// "12 kernel, 3 buffer full"; "none".
std::string drops_text(const Arrivals &arrivals);
// Packets received and lost by each row of a live device; empty without one.
std::string live_text(const Results &results);

// Terms, distance of each scenario from the model, conclusions.  Empty when no row is in a model.
std::string additive_text(const Results &results);

// Schema netslice-mapi-cost-1.
std::string json_text(const Results &results);

// One line per row, with the published figures of 2004; a field that was not measured is empty.
std::string csv_text(const Results &results);

// Scenarios that can be chosen, one per line; as JSON, schema netslice-mapi-cost-list-1.
std::string scenarios_text(const std::vector<Scenario> &scenarios);
std::string scenarios_json(const std::vector<Scenario> &scenarios);
std::string scenarios_csv(const std::vector<Scenario> &scenarios);
} // namespace mapi_cost
