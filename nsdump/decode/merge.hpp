// SPDX-License-Identifier: MIT
// decode: the event streams of all CPUs -> one stream, in runs of one CPU, in the requested order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decode/cpu_stream.hpp"
#include "decode/thread_set.hpp"

namespace nsdump
{
// Events of one CPU, see Order.
struct Run {
    uint32_t cpu_index = 0;        // place of the CPU in TraceFile::cpus()
    bool is_kernel = false;        // from the kernel's ring of that CPU
    bool is_after_loss = false;    // records of this CPU were lost right before the run
    bool is_kernel_unseen = false; // program run whose kernel records are lost (Order::kTime)
    std::span<const Event> events;
    uint64_t lost_before = 0;     // records of this CPU that were lost before the run, all together
    uint64_t left_out_before = 0; // records of all CPUs that were left out in pauses before the run
    bool is_lead_in = false;      // before the time that was asked for
    // Of the plan, after a gap whose records were not read: what was open before it may have ended.
    bool begins_window = false;
    // The first run, of any CPU, after a pause that left records out: those of every thread.
    bool is_after_pause = false;
};

enum class Order {
    kTime,   // all events in time order
    kThread, // time order per thread: longer runs, since CPUs with different threads need not wait
};

class Merger
{
public:
    // A plan requires Order::kTime.
    explicit Merger(TraceFile &trace, Order order = Order::kTime,
                    std::optional<ReadPlan> plan = std::nullopt);

    // The next run, valid until the next call; false at the end.
    bool next(Run &run);
    // True once next() has returned false.
    bool is_over() const { return heap_.empty(); }
    // True if only a part of the trace is read.
    bool has_plan() const { return plan_ != nullptr; }
    // File position of the slowest stream, for a progress display.
    uint64_t position_bytes() const;
    // Sum over the streams; complete once next() has returned false.
    StreamFaults faults() const;
    const std::vector<std::unique_ptr<CpuStream>> &streams() const { return streams_; }

private:
    struct Head {
        uint64_t ticks;
        uint32_t index;
    };
    struct Pending {
        const Event *at = nullptr;
        const Event *end = nullptr;
        bool is_after_loss = false;
        uint64_t left_out_before = 0;
        uint64_t latest = 0; // of the whole block: the clock may go backwards inside it
        ThreadSet threads;   // both only with Order::kThread
    };

    uint64_t strict_limit() const;
    uint64_t thread_limit();
    bool refill(uint32_t index);
    bool pass_windows_before(uint64_t ticks);
    bool is_unseen(uint32_t kernel_index) const;
    void sift_down(size_t place);

    Order order_;
    std::unique_ptr<const ReadPlan> plan_; // null: everything is read
    size_t window_ = 0;                    // of the plan: the current one
    std::vector<std::unique_ptr<CpuStream>> streams_;
    std::vector<Pending> pending_;
    std::vector<uint32_t> kernel_indices_;
    std::vector<bool> is_lost_at_end_; // by place
    std::vector<Head> heap_; // smallest ticks first, then by CPU, so the order is deterministic
    bool has_run_ = false;
    uint64_t left_out_ = 0;     // the most that a run had before it
    uint64_t looks_ = 1u << 20; // budget of thread_limit(); each event adds to it
};
} // namespace nsdump
