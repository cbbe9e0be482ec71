// SPDX-License-Identifier: MIT
// missing: a row without figures -> the cause and the remedy.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
// Text after "no cycles: " or "no instructions: ".
std::string why_missing(const Scenario &scenario, const Results &results,
                        const NothingMeasured &error);
// Text after "no interval of cycles: " or "no interval of instructions: ".
std::string why_no_interval(const Scenario &scenario, const Results &results);

// A note on rows whose filter passes nothing; empty if the filter passes a packet.
std::string filter_note(const Survey &survey);
} // namespace mapi_cost
