// SPDX-License-Identifier: MIT
// decode: the event streams of all CPUs -> one stream, in runs of one CPU, in the order asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/cpu_stream.hpp"
#include "decode/thread_set.hpp"

namespace nsdump
{
// Events of one CPU, see Order.
struct Run {
    std::uint32_t cpu_index = 0; // place of the CPU in TraceFile::cpus()
    bool is_kernel = false;      // out of the kernel's ring of that CPU
    bool is_after_loss = false;  // records of this CPU were lost right before the run
    bool is_kernel_unseen = false; // of a program: the kernel's records of this CPU are lost at that time (Order::kTime)
    std::span<const Event> events;
};

enum class Order {
    kTime,   // no event comes before an earlier one
    kThread, // none before an earlier one of its thread: long runs, since CPUs that run different threads need not wait
};

class Merger
{
public:
    explicit Merger(TraceFile &trace, Order order = Order::kTime);

    // The next run, valid until the next call; false at the end.
    bool next(Run &run);
    // Nothing is left: next() has returned false.
    bool is_over() const { return heap_.empty(); }
    // Bytes of the file that lie behind the slowest stream: for a progress display.
    std::uint64_t position_bytes() const;
    // Sum over the streams; complete when next() has returned false.
    StreamFaults faults() const;
    const std::vector<std::unique_ptr<CpuStream>> &streams() const { return streams_; }

private:
    struct Head {
        std::uint64_t ticks;
        std::uint32_t index;
    };
    struct Pending {
        const Event *at = nullptr;
        const Event *end = nullptr;
        bool is_after_loss = false;
        std::uint64_t latest = 0; // of the whole block: the clock may go back inside it
        ThreadSet threads; // both with Order::kThread only
    };

    std::uint64_t strict_limit() const;
    std::uint64_t thread_limit();
    bool refill(std::uint32_t index);
    bool is_unseen(std::uint32_t kernel_index) const;
    void sift_down(std::size_t place);

    Order order_;
    std::vector<std::unique_ptr<CpuStream>> streams_;
    std::vector<Pending> pending_;
    std::vector<std::uint32_t> kernel_indices_;
    std::vector<bool> is_lost_at_end_; // by place
    std::vector<Head> heap_; // smallest ticks first; equal ticks by CPU, so the order is always the same
    bool has_run_ = false;
    std::uint64_t looks_ = 1u << 20; // at other CPUs that thread_limit() may still make; each event gives more
};
} // namespace nsdump
