// SPDX-License-Identifier: MIT
// cli: a trace -> its runs and slices, those that `nsdump export` was asked for, with progress and
// Ctrl-C.
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/pair/user_and_kernel.hpp"
#include "cli/export/export_options.hpp"
#include "cli/read/finish.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// Calls `each` for every run until it returns false or the user interrupts, then `at_end`, which
// writes what is left.  Returns the exit code.
template <class Each, class AtEnd>
int for_each_run(TraceFile &trace, Order order, bool is_quiet, Each each, AtEnd at_end)
{
    constexpr uint64_t kProgressRuns = 1 << 12;
    Merger merger(trace, order);
    {
        command::ReadProgress progress(!is_quiet);
        Run run;
        uint64_t runs = 0;
        while (!command_was_interrupted() && merger.next(run) && each(run))
            if (++runs % kProgressRuns == 0)
                progress.show(merger.position_bytes(), trace.source().size_bytes());
    }
    at_end();
    return finish_reading(trace, merger);
}

// Sink of the pairer that passes on the slices that the options select, and all units and marks.
template <class Sink> class SelectedSlices
{
public:
    SelectedSlices(const ExportOptions &options, TraceFile &trace, Sink &sink)
        : options_(options), trace_(trace), sink_(sink)
    {
    }
    bool is_done() const { return passed_ >= options_.limit; }

    void slice(const Slice &slice)
    {
        if (is_done() || (options_.unit && (!slice.unit || slice.unit->number != *options_.unit)) ||
            (!options_.slice.empty() && trace_.names()[slice.name].text != options_.slice))
            return;
        ++passed_;
        sink_.slice(slice);
    }
    void unit(const Unit &unit) { sink_.unit(unit); }
    void mark(NameId name, uint64_t value) { sink_.mark(name, value); }

private:
    const ExportOptions &options_;
    TraceFile &trace_;
    Sink &sink_;
    uint64_t passed_ = 0;
};

// Pairs the trace; `sink` gets slices of programs and of the kernel, in the order of their STOPs
// (Order::kTime).  A sink with run() gets each run before the slices that end in it.  `at_end`
// writes what is left.
template <class Sink, class AtEnd>
int for_each_slice(const ExportOptions &options, TraceFile &trace, Sink &sink, AtEnd at_end)
{
    SelectedSlices<Sink> selected(options, trace, sink);
    UserAndKernelPairs sides(trace, selected, selected);
    if (const std::string warning = foreign_threads_warning(trace); !warning.empty())
        tell_warning(trace.source().name(), warning);
    return for_each_run(
        trace, Order::kTime, options.is_quiet,
        [&](const Run &run) {
            if constexpr (requires { sink.run(run); })
                sink.run(run);
            sides.consume(run);
            return !selected.is_done();
        },
        [&] {
            sides.finish();
            at_end();
        });
}
} // namespace nsdump
