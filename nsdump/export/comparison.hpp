// SPDX-License-Identifier: MIT
// export: comparisons of two programs -> a table for people, CSV, JSON of schema netslice-diff-1.
#pragma once

#include <string>
#include <vector>

#include "analyse/compare/compare.hpp"

namespace nsdump
{
// What was compared, for the head of the table and of the JSON.
struct Compared {
    const Runs &first, &second;
    const std::vector<Comparison> &comparisons;
    CompareOptions options;
};

std::string comparison_text(const Compared &compared, bool has_colours);
std::string comparison_csv(const Compared &compared);
std::string comparison_json(const Compared &compared);
} // namespace nsdump
