// SPDX-License-Identifier: MIT
// decode: the event streams of all CPUs -> one stream, in runs of one CPU.
#include "decode/merge.hpp"

#include <algorithm>
#include <limits>

namespace nsdump
{
Merger::Merger(TraceFile &trace, Order order, std::optional<ReadPlan> plan)
    : order_(order), plan_(plan ? std::make_unique<const ReadPlan>(*std::move(plan)) : nullptr),
      pending_(trace.cpus().size()), kernel_indices_(trace.kernel_indices())
{
    for (const CpuChunks &chunks : trace.cpus()) {
        is_lost_at_end_.push_back(trace.lost_at_end(chunks) > 0);
        const auto index = uint32_t(streams_.size());
        streams_.push_back(std::make_unique<CpuStream>(trace, chunks, plan_.get()));
        if (refill(index))
            heap_.push_back({pending_[index].at->ticks, index});
    }
    for (size_t place = heap_.size(); place-- > 0;)
        sift_down(place);
}

bool Merger::refill(uint32_t index)
{
    const std::span<const Event> block = streams_[index]->next_block();
    Pending &pending = pending_[index];
    const CpuStream &stream = *streams_[index];
    pending = {.at = block.data(),
               .end = block.data() + block.size(),
               .is_after_loss = stream.is_after_loss(),
               .left_out_before = stream.is_kernel() ? 0 : stream.left_out_so_far(),
               .latest = 0,
               .threads = {}};
    if (order_ == Order::kThread) {
        pending.threads = ThreadSet(block);
        for (const Event &event : block)
            pending.latest = std::max(pending.latest, event.ticks);
    }
    return !block.empty();
}

void Merger::sift_down(size_t place)
{
    const auto is_before = [](const Head &a, const Head &b) {
        return a.ticks < b.ticks || (a.ticks == b.ticks && a.index < b.index);
    };
    const Head moving = heap_[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap_.size())
            break;
        if (child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child]))
            ++child;
        if (!is_before(heap_[child], moving))
            break;
        heap_[place] = heap_[child];
        place = child;
    }
    heap_[place] = moving;
}

// Time of the next event of any other CPU.
uint64_t Merger::strict_limit() const
{
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    for (size_t place = 1; place < std::min<size_t>(heap_.size(), 3); ++place)
        limit = std::min(limit, heap_[place].ticks);
    return limit;
}

// Looks at other CPUs granted per event: far more than a real trace with many CPUs needs.
constexpr uint64_t kLooksPerEvent = 64;

// A run may pass events of other threads up to the last one of their block; later blocks are later
// in time.  If a CPU lost records, or follows a pause, the order matters: what is missing may have
// been of any thread.
uint64_t Merger::thread_limit()
{
    const uint64_t strict = strict_limit();
    if (looks_ < heap_.size())
        return strict; // bounds the time spent here on a hostile trace
    looks_ -= heap_.size();
    const ThreadSet &own = pending_[heap_[0].index].threads;
    uint64_t limit = std::numeric_limits<uint64_t>::max();
    for (size_t place = 1; place < heap_.size() && limit > strict; ++place) {
        const Pending &other = pending_[heap_[place].index];
        const bool must_wait = other.is_after_loss || other.left_out_before > left_out_ ||
                               other.threads.may_share(own);
        limit = std::min(limit, must_wait ? heap_[place].ticks : other.end[-1].ticks);
    }
    return std::max(limit, strict); // the clock may go backwards inside a block
}

// The next record of the ring follows lost ones, so the kernel's activity until then is unknown.
bool Merger::is_unseen(uint32_t kernel_index) const
{
    if (!streams_[kernel_index]->is_kernel())
        return false;
    const Pending &pending = pending_[kernel_index];
    return pending.at == pending.end ? is_lost_at_end_[kernel_index] : pending.is_after_loss;
}

// Moves on to the window of this time; true if that is another one.
bool Merger::pass_windows_before(uint64_t ticks)
{
    const size_t before = window_;
    while (plan_ && plan_->windows()[window_].to_ticks < ticks)
        ++window_; // all events lie in windows
    return window_ != before;
}

bool Merger::next(Run &run)
{
    if (has_run_) { // the last run consumed events of the top stream: restore the heap
        const uint32_t index = heap_[0].index;
        if (pending_[index].at == pending_[index].end && !refill(index)) {
            heap_[0] = heap_.back();
            heap_.pop_back();
        } else {
            heap_[0].ticks = pending_[index].at->ticks;
        }
        if (!heap_.empty())
            sift_down(0);
    }
    has_run_ = !heap_.empty();
    if (!has_run_)
        return false;
    uint64_t limit = order_ == Order::kThread ? thread_limit() : strict_limit();
    Pending &pending = pending_[heap_[0].index];
    const Event *const begin = pending.at;
    const Event *at = begin + 1; // the first event is never later than the limit
    run.begins_window = pass_windows_before(begin->ticks);
    run.is_lead_in = plan_ && begin->ticks < plan_->selected().from_ticks;
    if (run.is_lead_in)
        limit = std::min(limit, plan_->selected().from_ticks - 1);
    if (order_ == Order::kThread && pending.latest <= limit)
        at = pending.end;
    while (at < pending.end && at->ticks <= limit)
        ++at;
    pending.at = at;
    looks_ += kLooksPerEvent * uint64_t(at - begin);
    run.cpu_index = heap_[0].index;
    run.is_kernel = streams_[run.cpu_index]->is_kernel();
    run.is_after_loss = pending.is_after_loss;
    run.is_kernel_unseen =
        !kernel_indices_.empty() && !run.is_kernel && is_unseen(kernel_indices_[run.cpu_index]);
    pending.is_after_loss = false;
    run.events = {begin, at};
    run.lost_before = streams_[run.cpu_index]->lost_so_far();
    run.left_out_before = streams_[run.cpu_index]->left_out_so_far();
    run.is_after_pause = pending.left_out_before > left_out_;
    left_out_ = std::max(left_out_, pending.left_out_before);
    return true;
}

uint64_t Merger::position_bytes() const
{
    uint64_t position = std::numeric_limits<uint64_t>::max();
    for (const Head &head : heap_)
        position = std::min(position, streams_[head.index]->offset());
    return heap_.empty() ? 0 : position;
}

StreamFaults Merger::faults() const
{
    StreamFaults sum;
    for (const auto &stream : streams_)
        sum += stream->faults();
    return sum;
}
} // namespace nsdump
