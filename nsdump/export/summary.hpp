// SPDX-License-Identifier: MIT
// export: a report -> the most important of it, on one screen.
#pragma once

#include <cstddef>
#include <string>

#include "analyse/report.hpp"

namespace nsdump
{
struct ScreenSize {
    size_t columns = 80;
    size_t lines = 24;
    bool has_colours = false;
};

// What takes the most time, what was lost, and what to beware of.  At most `lines` - 1 lines of at
// most `columns` columns, so that a prompt fits below it; what is left out is counted.
std::string stats_summary(const StatsReport &report, const ScreenSize &size);
} // namespace nsdump
