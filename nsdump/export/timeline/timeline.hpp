// SPDX-License-Identifier: MIT
// export: slices, events and losses of a trace -> a timeline's tracks, slices, counters and
// instants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyse/losses.hpp"
#include "decode/merge.hpp"
#include "export/timeline/slice_arguments.hpp"
#include "export/timeline/stacks.hpp"

namespace nsdump
{
// Gets the slices of the pairer, and the runs of the merger in time order.
//
// Interrupts are on the track of their CPU, since they are not part of the thread that they stop.
// Other slices of the kernel have a track for each thread.
class Timeline final : private LaneSink
{
public:
    // Appends to `out`, which the caller empties from time to time.  `is_part`: not all of the
    // trace is read.
    Timeline(TraceFile &trace, const Correction &correction, TimelineWriter &writer,
             std::string &out, bool is_part);

    void head() { writer_.head(start_ns_, out_); }
    // Losses before the run, and the processes of its threads; before its slices.
    void run(const Run &run);
    // Counters that a STOP or a MARK of the run gives.
    void sample(const Run &run, const Event &event);
    void slice(const Slice &slice);
    // `is_whole`: the trace was read to its end.
    void finish(bool is_whole);

    // What a timeline cannot show, as messages; empty if it shows everything.
    std::vector<std::string> omissions() const;

private:
    // A program's slice that encloses more than this may begin in the file after its children.
    static constexpr size_t kMaxPending = 4096, kKeptPending = 512;
    static constexpr size_t kMaxAllPending = 1 << 16; // over all stacks

    void begin(size_t lane, const TimelineSlice &slice, const TimelineSlice *parent) override;
    void end(size_t lane, const TimelineSlice &slice) override;
    bool is_of_kernel(uint32_t cpu_index, NameId name) const
    {
        return is_kernels_own(trace_.cpus()[cpu_index].is_kernel, trace_.names()[name]);
    }
    Stack &stack_of_slice(const Slice &slice);
    Stack &thread_stack(uint32_t thread_id, uint16_t slice_id);
    void flush(Stack &stack, size_t keep);
    void flush_all();
    void make_room();
    void note_losses(const Run &run);
    void count_samples(Stack &stack, const std::vector<std::string> &names, const Event &event,
                       uint64_t at_ns);
    void tell_loss(uint32_t cpu_index, uint64_t lost, uint64_t ticks);
    void tell_pause(uint32_t cpu_index, uint64_t left_out, uint64_t ticks);
    void instant_after(uint32_t cpu_index, TimelineEvent event, std::vector<Argument> arguments,
                       uint64_t ticks);
    std::string loss_reason(const CpuChunks &cpu, uint64_t lost) const;

    TraceFile &trace_;
    TimelineWriter &writer_;
    std::string &out_;
    bool is_part_;
    Clock clock_;
    MonotonicTime time_;
    uint64_t start_ns_;
    SliceArguments arguments_;
    Stacks stacks_;
    Stack *writing_ = nullptr;
    Losses losses_;
    uint32_t program_pid_ = 0; // of the trace's INFO
    struct Ring {              // by place in TraceFile::cpus()
        uint64_t lost_told = 0, left_out_told = 0;
        uint64_t last_ticks = 0;
        bool has_records = false;
    };
    std::vector<Ring> rings_;
    size_t pending_ = 0;
    uint64_t left_out_ = 0;     // slices that overlap too many others
    uint64_t out_of_range_ = 0; // slices, counters and losses
    uint64_t backward_ = 0;     // slices that end before they begin
    uint64_t placeless_ = 0;    // losses on a CPU without any record
};
} // namespace nsdump
