// SPDX-License-Identifier: MIT
// cli: a trace -> its runs and slices, those that `nsdump export` was asked for, with progress and
// Ctrl-C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyse/event_selection.hpp"
#include "analyse/findings.hpp"
#include "analyse/pair/in_range.hpp"
#include "analyse/pair/user_and_kernel.hpp"
#include "cli/export/export_options.hpp"
#include "cli/read/finish.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// Calls `each` for every run of the selected range, unit and slice, and of what lies around them,
// until it returns false or the user interrupts, then `at_end` with whether only a part was read,
// which writes what is left.  Runs of the lead-in are marked.  Returns the exit code.
template <class Each, class AtEnd>
int for_each_run(const ExportOptions &options, TraceFile &trace, Order order, Each each,
                 AtEnd at_end)
{
    constexpr uint64_t kProgressRuns = 1 << 12;
    auto plan = plan_of(options.selection, trace, options.is_quiet);
    Merger merger(trace, plan ? Order::kTime : order, std::move(plan));
    {
        command::ReadProgress progress(!options.is_quiet);
        Run run;
        uint64_t runs = 0;
        while (!command_was_interrupted() && merger.next(run) && each(run))
            if (++runs % kProgressRuns == 0)
                progress.show(merger.position_bytes(), trace.source().size_bytes());
    }
    at_end(merger.has_plan());
    return finish_reading(trace, merger);
}

// Sink of the pairer that passes on the slices that the options select, and all units and marks.
template <class Sink> class SelectedSlices
{
public:
    SelectedSlices(const ExportOptions &options, TraceFile &trace, Sink &sink)
        : limit_(options.limit), sink_(sink),
          selection_(trace.names(), options.selection.unit, options.selection.slice)
    {
    }
    bool is_done() const { return passed_ >= limit_; }
    // STOPs of what the options select that have no START.
    uint64_t unmatched_stops() const { return unmatched_stops_; }

    void slice(const Slice &slice)
    {
        if (is_done() || !selection_.has(slice.name, slice.unit))
            return;
        ++passed_;
        sink_.slice(slice);
    }
    void unit(const Unit &unit) { sink_.unit(unit); }
    void mark(NameId name, uint64_t value) { sink_.mark(name, value); }
    void unmatched_stop(NameId name, const Unit *unit, uint64_t)
    {
        unmatched_stops_ += !is_done() && selection_.has(name, unit);
    }

private:
    uint64_t limit_;
    Sink &sink_;
    EventSelection selection_;
    uint64_t passed_ = 0;
    uint64_t unmatched_stops_ = 0;
};

// Calls for_each_run() with the pairs of both sides until `is_done` returns true, and ends the
// slices that are still open before `at_end`, which returns how many STOPs of what is selected have
// no START.  The sinks select what ends in the range.  `before` gets each run before the slices
// that end in it.
template <class Pairs, class Before, class IsDone, class AtEnd>
int pair_runs(const ExportOptions &options, TraceFile &trace, Pairs &sides, Before before,
              IsDone is_done, AtEnd at_end)
{
    if (const std::string warning = foreign_threads_warning(trace); !warning.empty())
        tell_warning(trace.source().name(), warning);
    return for_each_run(
        options, trace, Order::kTime,
        [&](const Run &run) {
            before(run);
            sides.consume(run);
            return !is_done();
        },
        [&](bool is_part) {
            sides.finish();
            if (const uint64_t unmatched = at_end(); is_part && unmatched > 0)
                tell_warning(trace.source().name(), unmatched_words(unmatched));
        });
}

// Pairs the trace; `sink` gets slices of programs and of the kernel, in the order of their STOPs
// (Order::kTime).  A sink with run() gets each run, also of the lead-in, before the slices that end
// in it.  `at_end` writes what is left.
template <class Sink, class AtEnd>
int for_each_slice(const ExportOptions &options, TraceFile &trace, Sink &sink, AtEnd at_end)
{
    SelectedSlices<Sink> selected(options, trace, sink);
    RangeGate gate(ticks_of(options.selection.range, trace).from_ticks);
    InRange in_range(gate, selected);
    UserAndKernelPairs sides(trace, in_range, in_range);
    const auto before = [&](const Run &run) {
        gate.note(run);
        if constexpr (requires { sink.run(run); })
            sink.run(run);
    };
    return pair_runs(
        options, trace, sides, before, [&] { return selected.is_done(); },
        [&] {
            at_end();
            return selected.unmatched_stops();
        });
}
} // namespace nsdump
