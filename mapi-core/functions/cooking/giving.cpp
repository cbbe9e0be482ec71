// SPDX-License-Identifier: MIT
// Streams: bytes that are ready -> cooked packets.
#include <algorithm>

#include "functions/cooking/streams.hpp"

namespace mapi::cooking
{
void Streams::give_full(Side &side, uint64_t timestamp_ns)
{
    const size_t ready = side.bytes.ready().size();
    if (ready >= order_.threshold)
        give(side, ready - ready % order_.threshold, timestamp_ns);
}

void Streams::give_ready(Side &side, uint64_t timestamp_ns)
{
    give(side, side.bytes.ready().size(), timestamp_ns);
}

void Streams::give_all(Side &side, uint64_t timestamp_ns)
{
    leave_early(side);
    give_ready(side, timestamp_ns);
    while (side.bytes.has_hole()) {
        skip_hole(side, timestamp_ns);
        give_ready(side, timestamp_ns);
    }
}

// Passes on runs that do not reach the stream's first byte: the bytes missing in between will not
// arrive any more.
void Streams::leave_early(Side &side)
{
    counts_.repeated_bytes += side.early.held_bytes();
    counts_.early_bytes += side.early.held_bytes();
    side.early.forget();
}

void Streams::cook_run(Side &side, const EarlyBytes::Run &run, uint64_t timestamp_ns)
{
    const size_t count =
        order_.is_once ? std::min(run.bytes.size(), order_.threshold) : run.bytes.size();
    cook(side, run.sequence, std::span(run.bytes).first(count), timestamp_ns);
    counts_.other_bytes += run.bytes.size() - count;
    if (order_.is_once)
        finish(side);
}

// A cooked packet contains no hole.
void Streams::skip_hole(Side &side, uint64_t timestamp_ns)
{
    give_ready(side, timestamp_ns);
    if (!side.bytes.has_hole())
        return;
    counts_.missing_bytes += skip(side, UINT32_MAX);
    ++counts_.holes;
}

// Bytes after a hole may overlap, which shows only now.
uint32_t Streams::skip(Side &side, uint32_t bytes_most)
{
    const size_t before = side.bytes.held_bytes();
    const uint32_t skipped = side.bytes.skip_hole(bytes_most);
    counts_.repeated_bytes += before - side.bytes.held_bytes();
    return skipped;
}

void Streams::give(Side &side, size_t count, uint64_t timestamp_ns)
{
    if (side.is_over || count == 0)
        return;
    const std::span<const uint8_t> all =
        side.bytes.ready().first(order_.is_once ? std::min(count, order_.threshold) : count);
    cook(side, side.bytes.ready_sequence(), all, timestamp_ns);
    side.bytes.take(all.size());
    if (order_.is_once)
        finish(side);
}

// Splits at the threshold; a piece too large for an IP packet is split once more.
void Streams::cook(Side &side, uint32_t sequence, std::span<const uint8_t> all,
                   uint64_t timestamp_ns)
{
    for (size_t at = 0; at < all.size();) {
        const size_t piece_end =
            std::min(all.size(), at - at % order_.threshold + order_.threshold);
        const auto part = all.subspan(at, std::min<size_t>(piece_end - at, side.head.room()));
        at += part.size();
        const bool is_end = side.has_end && sequence + uint32_t(part.size()) == side.end_sequence;
        make_packet(made_, side.head, sequence,
                    uint8_t((side.head.flags() & kAck) | (at == piece_end ? kPsh : 0) |
                            (is_end ? kFin : 0)),
                    part, timestamp_ns);
        sequence += uint32_t(part.size());
        ++counts_.cooked_packets;
    }
    counts_.cooked_bytes += all.size();
}

void Streams::finish(Side &side)
{
    side.is_over = true;
    counts_.other_bytes += side.held_bytes();
    side.bytes.forget();
    side.early.forget();
}
} // namespace mapi::cooking
