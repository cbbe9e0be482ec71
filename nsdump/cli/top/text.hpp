// SPDX-License-Identifier: MIT
// cli: an interval and its rows -> a table, or a line of JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/top/rows.hpp"

namespace nsdump
{
struct TopLimits {
    size_t rows = ~size_t{0}; // of slices
    size_t columns = ~size_t{0};
};

// Two lines of facts, one of titles, and the rows.  `order` is that of the rows.
std::string top_table(const TopInterval &interval, const std::vector<TopRow> &rows,
                      const TopOrder &order, const TopLimits &limits = {});
inline constexpr size_t kTopHeadLines = 3;

// Schema netslice-top-1, with its end of line.
std::string top_json(const TopInterval &interval, const std::vector<TopRow> &rows);
} // namespace nsdump
