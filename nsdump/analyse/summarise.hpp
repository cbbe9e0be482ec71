// SPDX-License-Identifier: MIT
// analyse: sums of the collector -> figures of the report.
#pragma once

#include "analyse/pair.hpp"
#include "analyse/report.hpp"
#include "analyse/stats.hpp"

namespace nsdump
{
// `step` is the granularity of the field's unit: the clock's step for ticks, 0 for counters.
FieldReport summarise_field(const FieldStats &stats, double step);

// Fills slices, units, marks and the classes that are sums over names.
void summarise(const NameTable &names, const PairState &pairs, const StatsCollector &stats, StatsReport &report);
} // namespace nsdump
