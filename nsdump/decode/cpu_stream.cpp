// SPDX-License-Identifier: MIT
// decode: the chunks of one CPU -> its events, in blocks.
#include "decode/cpu_stream.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace nsdump
{
namespace
{
constexpr size_t kBlockEvents = 512; // 16 KiB: fits in the L1 cache with its reader's data

// A smaller chunk is not prefetched: mapping it takes longer than the prefetch saves.
constexpr size_t kLeastAheadBytes = 192 << 10;

// CPU time of the calling thread.
double thread_seconds()
{
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
}
} // namespace

CpuStream::CpuStream(const TraceFile &trace, const CpuChunks &chunks, DamageLog &damage,
                     const ReadPlan *plan)
    : trace_(trace), damage_(damage), chunks_(chunks), plan_(plan),
      walker_(trace.source(), trace.format(), 0, nullptr), offsets_(chunks.offsets)
{
}

// Finds the next chunk in file order that may have events in a window; false at the end.
bool CpuStream::find_chunk(Chunk &chunk)
{
    if (!plan_)
        return offsets_.next(offset_) && walker_.header_at(offset_, chunk);
    return skip_to_window(chunk);
}

// Events of a chunk are not later than the first one of the chunk after it.
bool CpuStream::skip_to_window(Chunk &chunk)
{
    const auto find_following = [this] {
        uint64_t offset = 0;
        following_.emplace();
        if (!offsets_.next(offset) || !walker_.header_at(offset, *following_))
            following_.reset();
    };
    bool is_next = std::exchange(has_begun_, true);
    if (!is_next)
        find_following();
    while (following_) {
        chunk = *following_;
        offset_ = chunk.offset;
        if (!pass_windows_before(chunk.header.first_ticks))
            return false;
        find_following();
        if (!following_ || following_->header.first_ticks >= plan_->windows()[window_].from_ticks) {
            if (!is_next) { // what was not read is no loss
                next_sequence_ = chunk.header.sequence;
                lost_before_ = chunk.header.lost_before;
                left_out_before_ = chunk.header.left_out_before;
            }
            return true;
        }
        is_next = false;
    }
    return false;
}

// Moves to the first window that ends at this time or later; false after the last window.
bool CpuStream::pass_windows_before(uint64_t ticks)
{
    const std::vector<TickRange> &windows = plan_->windows();
    while (window_ < windows.size() && windows[window_].to_ticks < ticks)
        ++window_;
    return window_ < windows.size();
}

// The next events of the block that lie in one window; empty if there are no more.
std::span<const Event> CpuStream::take_from_window()
{
    while (!rest_.empty() && pass_windows_before(rest_.front().ticks)) {
        const TickRange &window = plan_->windows()[window_];
        const auto begin = std::ranges::find_if(
            rest_, [&](const Event &event) { return event.ticks >= window.from_ticks; });
        const auto end = std::find_if(
            begin, rest_.end(), [&](const Event &event) { return event.ticks > window.to_ticks; });
        const std::span<const Event> taken(begin, end);
        is_after_loss_ &= begin == rest_.begin(); // otherwise the loss was before the window
        rest_ = {end, rest_.end()};
        if (!taken.empty())
            return taken;
    }
    rest_ = {};
    return {};
}

bool CpuStream::next_chunk()
{
    Chunk chunk;
    bool had_damage = false;
    while (find_chunk(chunk)) {
        ++faults_.chunks;
        if (!walker_.read_payload(chunk, payload_)) {
            damage_.add(chunk.offset,
                        trace_.format().chunk_header_bytes + chunk.header.payload_bytes,
                        "wrong payload checksum");
            had_damage = true;
            continue;
        }
        is_after_loss_ = had_damage || chunk.header.sequence != next_sequence_ ||
                         chunk.header.lost_before != lost_before_;
        next_sequence_ = chunk.header.sequence + 1;
        lost_before_ = chunk.header.lost_before;
        left_out_before_ = chunk.header.left_out_before;
        declared_records_ = chunk.header.records;
        has_wrong_start_ = !payload_.empty() && payload_[0] != chunk.header.first_ticks;
        if (events_.size() < kBlockEvents) // a CPU with few records uses little memory
            events_.resize(std::clamp(payload_.size() / NSLICE_HEAD_WORDS,
                                      std::max<size_t>(events_.size(), 1), kBlockEvents));
        cursor_ = {.at = payload_.data(),
                   .end = payload_.data() + payload_.size(),
                   .cpu = chunks_.cpu,
                   .last_ticks = cursor_.last_ticks};
        is_chunk_open_ = true;
        return true;
    }
    return false;
}

void CpuStream::finish_chunk()
{
    if (!is_chunk_open_)
        return;
    is_chunk_open_ = false;
    faults_.decoded += cursor_.decoded;
    faults_.declared += declared_records_;
    faults_.unknown_kind += cursor_.unknown_kind;
    faults_.malformed_chunks += cursor_.malformed_words > 0;
    faults_.wrong_counts += cursor_.decoded != declared_records_;
    faults_.wrong_starts += has_wrong_start_;
    faults_.ticks_back += cursor_.goes_back;
}

// The bitwise or of all steps is at least the longest of them.  If that bound times the number of
// events fits above `ticks_before`, no step overflowed; a step back, as an unsigned number, is one
// that does.
void CpuStream::check_order(uint64_t ticks_before, std::span<const Event> block)
{
    uint64_t most_ticks = 0;
    if (!__builtin_mul_overflow(cursor_.steps, block.size(), &most_ticks) &&
        !__builtin_add_overflow(ticks_before, most_ticks, &most_ticks)) [[likely]]
        return;
    for (const Event &event : block)
        cursor_.goes_back |= event.ticks < std::exchange(ticks_before, event.ticks);
}

std::span<const Event> CpuStream::next_block()
{
    is_after_loss_ = false;
    for (;;) {
        if (const auto taken = take_from_window(); !taken.empty())
            return taken;
        const uint64_t ticks_before = cursor_.last_ticks;
        const size_t count =
            trace_.format().decode_records(cursor_, events_.data(), events_.size());
        if (count > 0) {
            check_order(ticks_before, {events_.data(), count});
            if (!plan_)
                return {events_.data(), count};
            rest_ = {events_.data(), count};
            continue;
        }
        const bool pending_loss = is_after_loss_; // of a chunk that had no usable event
        finish_chunk();
        if (!next_chunk())
            return {};
        is_after_loss_ |= pending_loss;
    }
}

RecordCursor *CpuStream::next_payload(FasterWay *ahead)
{
    is_after_loss_ = false;
    finish_chunk();
    if (!next_chunk())
        return nullptr;
    if (ahead)
        look_ahead(*ahead);
    return &cursor_;
}

// To the payload of the next chunk, as far as this one's size, if that makes reading faster:
// whether it does depends on the costs of a page fault and of a cache miss.  A part of the trial
// begins before the next chunk is mapped and ends when it was read.
void CpuStream::look_ahead(FasterWay &way)
{
    if (tried_bytes_ > 0)
        way.note((thread_seconds() - tried_since_) / double(std::exchange(tried_bytes_, 0)));
    if (way.is_decided() && !way.is_other())
        return look_ahead_.reset();
    const size_t bytes = payload_.size() * NSLICE_WORD_BYTES;
    Offsets::Reader following = offsets_;
    uint64_t offset = 0;
    if (bytes < kLeastAheadBytes || !following.next(offset))
        return;
    const double now = way.is_decided() ? 0 : thread_seconds();
    if (way.is_other()) {
        if (!look_ahead_)
            look_ahead_ = std::make_unique<LookAhead>(trace_.source());
        const uintptr_t next =
            look_ahead_->address_of(offset + trace_.format().chunk_header_bytes, bytes);
        if (next == 0)
            return;
        cursor_.ahead_bytes = next - reinterpret_cast<uintptr_t>(payload_.data());
    }
    if (!way.is_decided()) {
        tried_since_ = now;
        tried_bytes_ = bytes;
    }
}
} // namespace nsdump
