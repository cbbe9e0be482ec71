// SPDX-License-Identifier: MIT
// analyse: slices of the kernel -> statistics, with or without random thinning of BPF programs.
#pragma once

#include <optional>

#include "analyse/statistics/stats.hpp"
#include "analyse/thinning/ordinary_slices.hpp"
#include "analyse/thinning/thinning.hpp"

namespace nsdump
{
// Sink of the pairer.
class KernelSlices
{
public:
    KernelSlices(TraceFile &trace, const Clock &clock, const Correction &correction,
                 bool use_thinning)
        : all_(correction, has_epochs(trace) ? 0 : trace.kernel_counter_names().size()),
          complete_(correction, trace.kernel_counter_names().size())
    {
        if (!has_epochs(trace))
            return;
        for (StatsCollector *const half : {&all_, &complete_}) // two share the memory of one
            half->set_max_held_bytes(kMaxHeldBytes / 2);
        thinning_.emplace(trace, clock, correction, true, use_thinning);
        ordinary_.emplace(trace.names(), thinning_->slices(), clock, all_, complete_, false);
    }
    KernelSlices(const KernelSlices &) = delete;
    KernelSlices &operator=(const KernelSlices &) = delete;

    static bool has_epochs(const TraceFile &trace)
    {
        return std::ranges::any_of(trace.epochs(), belongs_to_kernel);
    }

    // Runs of a merger, before the pairer gets them.
    void consume(const Run &run)
    {
        if (thinning_ && run.is_kernel)
            thinning_->consume(run);
    }
    void slice(const Slice &slice)
    {
        has_nested_ |= (slice.inside.ends | slice.inside.marks) != 0;
        if (ordinary_)
            ordinary_->slice(slice);
        else
            all_.slice(slice);
    }
    bool is_spread() const { return all_.is_spread(); }
    void expect(NameId name) const { all_.expect(name); }
    void unit(const Unit &unit) { all_.unit(unit); }
    void mark(NameId name, uint64_t value) { all_.mark(name, value); }

    StatsCollector &statistics() { return all_; }
    // After the statistics are in the report.
    void finish(const TraceFile &trace, const Correction &correction, StatsReport &report)
    {
        if (!thinning_)
            return;
        thinning_->set_complete(trace.names(), complete_, report);
        thinning_->finish(trace, correction, report);
    }
    // Whether slices or marks lie inside others.
    bool has_nested() const { return has_nested_; }
    uint64_t doubtful() const { return ordinary_ ? ordinary_->doubtful() : 0; }

private:
    bool has_nested_ = false;
    StatsCollector all_, complete_;
    std::optional<Thinning> thinning_; // none: the trace has no epochs of BPF programs
    std::optional<OrdinarySlices> ordinary_;
};
} // namespace nsdump
