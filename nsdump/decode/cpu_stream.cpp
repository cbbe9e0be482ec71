// SPDX-License-Identifier: MIT
// decode: the chunks of one CPU -> its events, in blocks.
#include "decode/cpu_stream.hpp"

#include <algorithm>

namespace nsdump
{
namespace
{
constexpr size_t kBlockEvents = 512; // 16 KiB: fits in the L1 cache with its reader's data
} // namespace

CpuStream::CpuStream(const TraceFile &trace, const CpuChunks &chunks, DamageLog &damage)
    : trace_(trace), damage_(damage), chunks_(chunks),
      walker_(trace.source(), trace.format(), 0, nullptr), offsets_(chunks.offsets)
{
}

bool CpuStream::next_chunk()
{
    Chunk chunk;
    bool had_damage = false;
    while (offsets_.next(offset_) && walker_.header_at(offset_, chunk)) {
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
        declared_records_ = chunk.header.records;
        if (events_.size() < kBlockEvents) // a CPU with few records uses little memory
            events_.resize(
                std::clamp(payload_.size() / NSLICE_HEAD_WORDS, events_.size(), kBlockEvents));
        cursor_ = {payload_.data(), payload_.data() + payload_.size(), chunks_.cpu};
        has_ticks_back_ = false;
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
    faults_.ticks_back += has_ticks_back_;
}

void CpuStream::check_order(size_t count)
{
    uint64_t last = last_ticks_;
    bool back = false;
    for (size_t i = 0; i < count; ++i) {
        back |= events_[i].ticks < last;
        last = events_[i].ticks;
    }
    last_ticks_ = last;
    has_ticks_back_ |= back;
}

std::span<const Event> CpuStream::next_block()
{
    is_after_loss_ = false;
    for (;;) {
        const size_t count =
            trace_.format().decode_records(cursor_, events_.data(), events_.size());
        if (count > 0) {
            check_order(count);
            return {events_.data(), count};
        }
        const bool pending_loss = is_after_loss_; // of a chunk that had no usable event
        finish_chunk();
        if (!next_chunk())
            return {};
        is_after_loss_ |= pending_loss;
    }
}
} // namespace nsdump
