// SPDX-License-Identifier: MIT
// Streams: which stream a segment belongs to, and when streams end.
#include "functions/cooking/streams.hpp"

#include <iterator>

namespace mapi::cooking
{
Streams::Streams(const Order &order, mapi_cooking_t &counts, functions::MadePackets &made)
    : order_(order), counts_(counts), made_(made)
{
}

uint64_t Streams::memory_bytes(const Limits &limits)
{
    constexpr uint64_t kPlaceBytes =
        sizeof(Ends) + 8 * sizeof(void *); // in the list and in by_ends_
    return limits.streams * (sizeof(Stream) + kPlaceBytes) + 2 * limits.bytes +
           functions::MadePackets::kMemoryBytes;
}

// A RST never begins a stream: it belongs to one that has ended, or to none.
void Streams::take(const Segment &segment, const Head &head)
{
    ++counts_.packets;
    counts_.bytes += segment.payload.size();
    const auto found = by_ends_.find(segment.ends);
    const bool is_odd =
        (segment.flags & kSyn) && (segment.flags & kFin); // no host accepts such a packet
    if (is_odd || (found == by_ends_.end() && (segment.flags & kRst)))
        return ignore(segment.payload.size());
    auto stream = found == by_ends_.end() ? begin(segment) : found->second;
    stream->last_ns = segment.timestamp_ns;
    if (segment.flags & kRst)
        take_reset(*stream, segment);
    else
        stream = segment.flags & kSyn ? take_syn(stream, segment, head)
                                      : take_segment(stream, segment, head);
    settle(stream);
}

void Streams::ignore(size_t payload_bytes)
{
    ++counts_.ignored_packets;
    counts_.ignored_bytes += payload_bytes;
    counts_.other_bytes += payload_bytes;
}

// The client is the end that requested the stream; of a stream already open, the end seen first.
Streams::List::iterator Streams::begin(const Segment &segment)
{
    if (by_ends_.size() >= order_.limits.streams)
        end_oldest();
    quiet_.emplace_back();
    const auto stream = std::prev(quiet_.end());
    stream->ends = segment.ends;
    stream->client =
        (segment.flags & (kSyn | kAck)) == (kSyn | kAck) ? 1 - segment.from : segment.from;
    try {
        by_ends_.emplace(segment.ends, stream);
    } catch (...) {
        quiet_.erase(stream);
        throw;
    }
    ++counts_.streams;
    return stream;
}

// Kept after its end, so that retransmissions are recognized.
void Streams::settle(List::iterator stream)
{
    const size_t cost = stream->sides[0].cost() + stream->sides[1].cost();
    const bool is_empty =
        stream->sides[0].head.bytes.empty() && stream->sides[1].head.bytes.empty();
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
    for (unsigned from : {0u, 1u}) {
        end_doubtful(*stream, from);
        give_all(stream->sides[from], stream->sides[from].last_ns);
    }
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
        while (!list->empty() && now_ns > list->front().last_ns &&
               now_ns - list->front().last_ns > order_.timeout_ns)
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
