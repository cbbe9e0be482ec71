// SPDX-License-Identifier: MIT
// report: results -> rules of sids, summary, explanation, errors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collection.hpp"
#include "options.hpp"

namespace snort2sids
{
std::string rules_text(const std::vector<Result> &results, bool has_comments);
// How many are converted, the reasons of refusals, what is not done, what was skipped.
std::string summary_text(const std::vector<Result> &results,
                         const std::map<std::string, uint64_t> &skipped);
// A line for each refused rule.
std::string refused_text(const std::vector<Result> &results);
// Of all rules with this sid; empty if there is none.
std::string explanation_text(const std::vector<Result> &results, uint32_t sid);
std::string problems_text(const std::vector<RuleFiles::Problem> &problems);
} // namespace snort2sids
