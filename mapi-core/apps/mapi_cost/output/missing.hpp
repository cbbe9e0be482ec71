// SPDX-License-Identifier: MIT
// missing: a row without figures -> why, and what would help.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
// After "no cycles: " or "no instructions: ".
std::string why_missing(const Scenario &scenario, const Results &results, const NothingMeasured &error);
// After "no interval of cycles: " or "no interval of instructions: ".
std::string why_no_interval(const Scenario &scenario, const Results &results);

// Of rows that stand for less than their name says; empty when the filter passes something.
std::string filter_note(const Survey &survey);
} // namespace mapi_cost
