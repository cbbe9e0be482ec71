// SPDX-License-Identifier: MIT
// Streams: which stream a segment is of, what is new in it, and when streams end.
#include "functions/cooking/streams.hpp"

#include <iterator>

namespace mapi::cooking
{
namespace
{
// Farther from what is expected than windows are: no hole, but another place in the stream.
constexpr uint32_t kFarBytes = 16u << 20;

bool is_far(uint32_t sequence, uint32_t expected)
{
    return sequence - expected > kFarBytes && expected - sequence > kFarBytes;
}
} // namespace

Streams::Streams(const Order &order, mapi_cooking_t &counts, functions::MadePackets &made) : order_(order), counts_(counts), made_(made)
{
}

uint64_t Streams::memory_bytes(const Limits &limits)
{
    constexpr uint64_t kPlaceBytes = sizeof(Ends) + 8 * sizeof(void *); // in the list and in by_ends_
    return limits.streams * (sizeof(Stream) + kPlaceBytes) + 2 * limits.bytes + functions::MadePackets::kMemoryBytes;
}

void Streams::take(const Segment &segment, const Head &head)
{
    const auto stream = find(segment);
    Side &side = stream->sides[segment.from];
    const uint32_t sequence = segment.sequence + (segment.flags & kSyn ? 1 : 0);
    stream->last_ns = segment.timestamp_ns;
    ++counts_.packets;
    counts_.bytes += segment.payload.size();
    if (!side.bytes.has_begun()) {
        // CLIENT_SIDE is what the client receives.
        const int receiver = segment.from == stream->client ? SERVER_SIDE : CLIENT_SIDE;
        side.is_over = (order_.side & receiver) == 0;
        side.bytes.begin(sequence);
    }
    if (!segment.payload.empty()) {
        side.head = head;
        side.last_ns = segment.timestamp_ns;
        put(side, segment, sequence);
    }
    close(*stream, segment, sequence + uint32_t(segment.payload.size()) + segment.cut_bytes);
    settle(stream);
}

// A SYN with another sequence number is of another stream between the same ends.
Streams::List::iterator Streams::find(const Segment &segment)
{
    const auto found = by_ends_.find(segment.ends);
    if (found == by_ends_.end())
        return begin(segment);
    const auto stream = found->second;
    const HalfStream &bytes = stream->sides[segment.from].bytes;
    const bool is_first_syn = (segment.flags & (kSyn | kAck)) == kSyn;
    if (!is_first_syn || !bytes.has_begun() || bytes.first_sequence() == segment.sequence + 1)
        return stream;
    end(stream);
    return begin(segment);
}

// Who asks for a stream is its client; of one that was there before, who is seen first.
Streams::List::iterator Streams::begin(const Segment &segment)
{
    if (by_ends_.size() >= order_.limits.streams)
        end_oldest();
    quiet_.emplace_back();
    const auto stream = std::prev(quiet_.end());
    stream->ends = segment.ends;
    stream->client = (segment.flags & (kSyn | kAck)) == (kSyn | kAck) ? 1 - segment.from : segment.from;
    try {
        by_ends_.emplace(segment.ends, stream);
    } catch (...) {
        quiet_.erase(stream);
        throw;
    }
    ++counts_.streams;
    return stream;
}

void Streams::put(Side &side, const Segment &segment, uint32_t sequence)
{
    if (!side.is_over && is_far(sequence, side.bytes.next_sequence())) {
        give_all(side, segment.timestamp_ns);
        side.bytes.begin(sequence);
        ++counts_.holes;
    }
    if (side.is_over) {
        counts_.other_bytes += segment.payload.size();
        return;
    }
    const size_t before = side.bytes.held_bytes();
    side.bytes.put(sequence, segment.payload);
    counts_.repeated_bytes += before + segment.payload.size() - side.bytes.held_bytes();
    while (side.bytes.waiting_bytes() > order_.limits.hole_bytes || side.bytes.waiting_segments() > order_.limits.hole_segments)
        skip_hole(side, segment.timestamp_ns);
    if (segment.cut_bytes && side.bytes.next_sequence() == sequence + uint32_t(segment.payload.size())) {
        give_ready(side, segment.timestamp_ns); // it ends before what is missing
        counts_.cut_bytes += skip(side, segment.cut_bytes);
    }
    give_full(side, segment.timestamp_ns);
}

void Streams::close(Stream &stream, const Segment &segment, uint32_t end_sequence)
{
    Side &side = stream.sides[segment.from];
    if (segment.flags & kFin) {
        side.has_end = true;
        side.end_sequence = end_sequence;
    }
    if (side.has_end && side.bytes.next_sequence() == side.end_sequence)
        give_ready(side, segment.timestamp_ns);
    stream.is_closed |= stream.sides[0].has_end && stream.sides[1].has_end;
    if ((segment.flags & kRst) == 0)
        return;
    stream.is_closed = true;
    for (Side &each : stream.sides)
        give_ready(each, segment.timestamp_ns);
}

// It stays after its end, so that what is sent again is known.
void Streams::settle(List::iterator stream)
{
    const size_t cost = stream->sides[0].bytes.cost() + stream->sides[1].bytes.cost();
    const bool is_empty = stream->sides[0].head.bytes.empty() && stream->sides[1].head.bytes.empty();
    cost_ += cost - stream->cost;
    stream->cost = cost;
    const bool is_quiet = cost == 0 && (stream->is_closed || is_empty);
    List &to = is_quiet ? quiet_ : busy_;
    to.splice(to.end(), stream->is_quiet ? quiet_ : busy_, stream);
    stream->is_quiet = is_quiet;
    while (cost_ > order_.limits.bytes)
        end_oldest();
}

void Streams::end(List::iterator stream)
{
    for (Side &side : stream->sides)
        give_all(side, side.last_ns);
    cost_ -= stream->cost;
    by_ends_.erase(stream->ends);
    (stream->is_quiet ? quiet_ : busy_).erase(stream);
}

void Streams::end_oldest()
{
    const bool is_for_bytes = cost_ > order_.limits.bytes;
    const auto stream = is_for_bytes || quiet_.empty() ? busy_.begin() : quiet_.begin();
    counts_.early_ends += !stream->is_closed;
    end(stream);
}

void Streams::expire(uint64_t now_ns)
{
    if (order_.timeout_ns == 0)
        return;
    for (List *list : {&quiet_, &busy_}) {
        while (!list->empty() && now_ns > list->front().last_ns && now_ns - list->front().last_ns > order_.timeout_ns)
            end(list->begin());
    }
}

void Streams::end_all()
{
    for (List *list : {&quiet_, &busy_}) {
        while (!list->empty())
            end(list->begin());
    }
}
} // namespace mapi::cooking
