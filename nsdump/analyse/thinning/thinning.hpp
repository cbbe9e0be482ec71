// SPDX-License-Identifier: MIT
// analyse: a trace with epochs -> net values by random thinning in the report.
#pragma once

#include <memory>

#include "analyse/report.hpp"
#include "analyse/statistics/stats.hpp"
#include "analyse/thinning/collector.hpp"
#include "analyse/thinning/epoch_table.hpp"
#include "analyse/thinning/gap.hpp"

namespace nsdump
{
class Thinning
{
public:
    // Of slices of processes, or of BPF programs.  Without `is_used`, net values stay those of the
    // calibration.
    Thinning(TraceFile &trace, const Clock &clock, const Correction &correction, bool is_kernel,
             bool is_used)
        : is_used_(is_used), epochs_(trace, is_kernel),
          slices_(trace, epochs_, clock, close_limit(correction, clock.step_ticks),
                  is_used && epochs_.refusal().empty())
    {
    }

    // All runs of a merger.
    void consume(const Run &run) { slices_.consume(run); }
    const ThinningCollector &slices() const { return slices_; }
    // Sets counters and self of the report's slices, from those with all probes on.
    void set_complete(const NameTable &names, StatsCollector &complete, StatsReport &report);
    // Completes the slices of the report; after set_complete().
    void finish(const TraceFile &trace, const Correction &correction, StatsReport &report);

private:
    // In the report.
    const std::vector<std::string> &counter_names(const StatsReport &report) const
    {
        return epochs_.is_of_kernel() ? report.kernel_counter_names : report.counter_names;
    }

    bool is_used_;
    EpochTable epochs_;
    ThinningCollector slices_;
    uint64_t all_on_ = 0, not_all_on_ = 0; // see ThinningReport
};
} // namespace nsdump
