// SPDX-License-Identifier: MIT
// export: slices of a report -> tables for people, the most expensive slice first.
#pragma once

#include <string>
#include <vector>

#include "analyse/report.hpp"
#include "export/escape.hpp"

namespace nsdump
{
// A "?" after the name means that its figures may be wrong.
template <class Figures> std::string marked_name(const Figures &figures)
{
    return printable(figures.name) + (figures.is_incomplete ? " ?" : "");
}

using SliceList = std::vector<const SliceReport *>;

// The order of every list of slices on a page: programs before the kernel, each by the time that
// its slices take together.
SliceList by_cost(const StatsReport &report);
// One table for the clock and one for each counter, and what their columns are.
std::string field_tables_text(const StatsReport &report, const SliceList &slices);
} // namespace nsdump
