// SPDX-License-Identifier: MIT
// analyse: the events of a trace -> slices of programs and of the kernel, each with its own sink.
#pragma once

#include <vector>

#include "analyse/correct/kernel_rows.hpp"
#include "analyse/correct/kernel_time.hpp"
#include "analyse/pair/foreign_threads.hpp"
#include "analyse/pair/pair.hpp"
#include "decode/clock.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// The kernel's events affect slices of programs on the same CPU, so time order is required if there
// are any.
inline Order pairing_order(const TraceFile &trace)
{
    return trace.has_kernel() ? Order::kTime : Order::kThread;
}

template <class ProgramSink, class KernelSink> class UserAndKernelPairs
{
public:
    UserAndKernelPairs(TraceFile &trace, ProgramSink &programs, KernelSink &kernel)
        : kernel_indices_(trace.kernel_indices()), programs_(trace.names(),
                                                             {trace.counter_names().size(),
                                                              trace.cpus().size(),
                                                              false,
                                                              kernel_indices_of_programs(trace),
                                                              {},
                                                              trace.names().has_ways()},
                                                             programs),
          kernel_(trace.names(),
                  {trace.kernel_counter_names().size(), trace.cpus().size(), true, kernel_indices_,
                   bpf_costs(trace.kernel_calibrations()), trace.names().has_ways()},
                  kernel),
          time_(trace.names(), trace.cpus().size(), kernel_.bpf_costs(), programs_, kernel_),
          program_indices_(trace.cpus().size(), kNoCpu), names_(trace.names()),
          has_functions_(trace.has_kernel() && trace.names().has_functions() &&
                         !has_foreign_threads(trace))
    {
        for (uint32_t cpu = 0; cpu < kernel_indices_.size(); ++cpu)
            if (kernel_indices_[cpu] != cpu)
                program_indices_[kernel_indices_[cpu]] = cpu;
    }

    // Runs of a merger with pairing_order().
    void consume(const Run &run)
    {
        if (run.begins_window) [[unlikely]]
            begin_window();
        if (was_lead_in_ && !run.is_lead_in) [[unlikely]]
            for (PairState *const side :
                 {static_cast<PairState *>(&programs_), static_cast<PairState *>(&kernel_)})
                side->clear_counts(); // what began before the lead-in has no START there
        was_lead_in_ = run.is_lead_in;
        if (!run.is_kernel) [[likely]]
            programs_.consume(run);
        else
            consume_kernel(run);
    }
    // Slices that are still open at the end of the trace have no STOP.
    void finish()
    {
        programs_.finish();
        kernel_.finish();
    }
    // The same at the end of a range of time, where they are not counted.
    void finish_range()
    {
        programs_.finish_range();
        kernel_.finish_range();
    }
    const PairState &programs() const { return programs_; }
    const PairState &kernel() const { return kernel_; }

private:
    std::vector<uint32_t> kernel_indices_of_programs(const TraceFile &trace) const
    {
        return has_foreign_threads(trace) ? std::vector<uint32_t>{} : kernel_indices_;
    }
    // What is open may have ended in the gap before the window.
    void begin_window()
    {
        finish_range();
        time_.forget();
    }
    void consume_kernel(const Run &run)
    {
        if (run.is_after_loss)
            note_loss(run.cpu_index);
        for (const Event &event : run.events) {
            const bool is_first = &event == run.events.data();
            if (has_functions_ && names_[names_.of_slice(event.slice_id)].way != 0) {
                programs_.consume({program_index(run.cpu_index), false, false, false, {&event, 1}});
                if (run.is_after_loss && is_first)
                    kernel_.lose_records(run.cpu_index);
                continue;
            }
            kernel_.consume(
                {run.cpu_index, true, run.is_after_loss && is_first, false, {&event, 1}});
            time_.note(run.cpu_index, event);
        }
    }
    void note_loss(uint32_t kernel_index)
    {
        time_.note_loss(kernel_index);
        if (const uint32_t cpu = program_indices_[kernel_index]; cpu != kNoCpu)
            programs_.lose_sight_of_cpu(cpu);
        if (has_functions_)
            programs_.lose_records(program_index(kernel_index));
    }
    uint32_t program_index(uint32_t kernel_index) const
    {
        const uint32_t cpu = program_indices_[kernel_index];
        return cpu != kNoCpu ? cpu : kernel_index;
    }

    std::vector<uint32_t> kernel_indices_;
    Pairer<ProgramSink> programs_;
    Pairer<KernelSink> kernel_;
    KernelTime time_;
    std::vector<uint32_t> program_indices_; // by kernel ring: the programs' ring of that CPU
    NameTable &names_;
    bool has_functions_; // slices of programs among the kernel's records
    bool was_lead_in_ = false;
};
} // namespace nsdump
