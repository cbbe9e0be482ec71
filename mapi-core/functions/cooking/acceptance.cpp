// SPDX-License-Identifier: MIT
// Streams: segments -> those that their receiver accepts, and the new bytes in them.
#include <algorithm>

#include "functions/cooking/streams.hpp"

namespace mapi::cooking
{
namespace
{
constexpr size_t kPrependMost = 256u << 10; // prepending to more would be too slow

// Whether the number belongs to the stream known so far, and not to a new one.
bool is_of_old(const Side &side, const Side &peer, uint32_t acknowledgment)
{
    if (!peer.has_sent || is_after(acknowledgment, peer.sent_end))
        return false;
    return side.acks.is_known() ? !is_after(side.acks.acked(), acknowledgment)
                                : peer.sent_end - acknowledgment <= kFarBytes;
}

// Whether this end answers the rival SYN of the other end.
bool answers_rival(const Side &side, const Side &peer, const Segment &segment)
{
    if (!peer.rival || !segment.has_acknowledgment || is_of_old(side, peer, segment.acknowledgment))
        return false;
    const uint32_t first = peer.rival->first;
    return segment.acknowledgment == first ||
           std::any_of(peer.doubtful.begin(), peer.doubtful.end(), [&](const Doubtful &each) {
               return each.sequence() == first &&
                      segment.acknowledgment - first - 1 < each.sent_end() - first;
           });
}

// If only one end was captured, the rival SYN cannot be checked.
bool goes_on_as_rival(const Side &side, const Side &peer, const Segment &segment)
{
    return side.rival && segment.sequence == side.rival->first && !peer.acks.is_known() &&
           segment.sequence != side.expected();
}
} // namespace

Streams::List::iterator Streams::take_segment(List::iterator stream, const Segment &segment,
                                              const Head &head)
{
    const unsigned from = segment.from;
    if (goes_on_as_rival(stream->sides[from], stream->sides[1 - from], segment))
        stream = renew(stream, from);
    else if (answers_rival(stream->sides[from], stream->sides[1 - from], segment))
        stream = renew(stream, 1 - from);
    go_on_after(*stream, segment);
    Side &side = stream->sides[from], &peer = stream->sides[1 - from];
    if (const auto reason = doubt(*stream, segment)) {
        if (*reason == Doubtful::Reason::kClosed && !peer.acks.is_known() &&
            is_far(segment.sequence, side.expected())) {
            end(stream); // a new stream, whose beginning was not captured
            return take_segment(begin(segment), segment, head);
        }
        hold(*stream, segment, head, *reason);
        confirm(*stream, 1 - from, segment.acknowledgment, false);
        return stream;
    }
    side.last_number = counts_.packets;
    if (!side.bytes.has_begun() && (!segment.payload.empty() || segment.flags & kFin))
        begin_side(*stream, from, segment.sequence);
    accept(*stream, segment, head);
    if (segment.has_acknowledgment && peer.has_sent) {
        side.acks.take(segment, peer.sent_end_most());
        confirm(*stream, 1 - from, segment.acknowledgment, true);
    }
    return stream;
}

// Without a SYN, the first bytes follow what was sent before, if that is known.  A single byte
// before them is a keep-alive.
void Streams::begin_side(Stream &stream, unsigned from, uint32_t first)
{
    Side &side = stream.sides[from];
    const Acks &acks = stream.sides[1 - from].acks;
    // CLIENT_SIDE means the bytes that the client receives.
    const int receiver = from == stream.client ? SERVER_SIDE : CLIENT_SIDE;
    side.is_over = (order_.side & receiver) == 0;
    if (side.has_sent && is_after(first, side.sent_end) && first - side.sent_end <= kFarBytes) {
        const bool has_acked = acks.is_known() && is_after(acks.acked(), side.sent_end) &&
                               !is_after(acks.acked(), first);
        const uint32_t before = has_acked ? acks.acked() : side.sent_end;
        first = first - before == 1 ? first : before;
    }
    side.bytes.begin(first);
    side.note_sent(first);
}

void Streams::accept(Stream &stream, const Segment &segment, const Head &head)
{
    Side &side = stream.sides[segment.from];
    if (!segment.payload.empty()) {
        side.head = head;
        side.last_ns = segment.timestamp_ns;
        put(stream, segment, segment.sequence);
    }
    if (side.bytes.has_begun() || !(segment.flags & kFin))
        side.note_sent(segment.end() + (segment.flags & kFin ? 1 : 0));
    close(stream, segment, segment.end());
    drop_overtaken(side);
}

void Streams::put(Stream &stream, const Segment &segment, uint32_t sequence)
{
    Side &side = stream.sides[segment.from], &peer = stream.sides[1 - segment.from];
    const bool is_elsewhere = is_far(sequence, side.bytes.next_sequence());
    if (is_elsewhere && !side.is_over) {
        give_all(side, segment.timestamp_ns);
        side.bytes.begin(sequence);
        side.sent_end = sequence;
        ++counts_.holes;
    }
    if (side.is_over) {
        counts_.other_bytes += segment.payload.size();
        if (is_elsewhere || is_after(segment.end(), side.bytes.next_sequence()))
            side.bytes.go_to(segment.end());
    } else {
        put_bytes(side, peer, segment, sequence);
    }
    peer.acks.widen(side.bytes.next_sequence());
}

void Streams::put_bytes(Side &side, const Side &peer, const Segment &segment, uint32_t sequence)
{
    const std::span<const uint8_t> bytes = put_early(side, peer, segment, sequence);
    sequence += uint32_t(segment.payload.size() - bytes.size());
    counts_.other_bytes += side.is_over ? bytes.size() : 0;
    if (bytes.empty() || side.is_over)
        return;
    const size_t before = side.bytes.held_bytes();
    side.bytes.put(sequence, bytes);
    counts_.repeated_bytes += before + bytes.size() - side.bytes.held_bytes();
    while (side.bytes.waiting_bytes() > order_.limits.hole_bytes ||
           side.bytes.waiting_segments() > order_.limits.hole_segments)
        skip_hole(side, segment.timestamp_ns);
    if (segment.cut_bytes && side.bytes.next_sequence() == sequence + uint32_t(bytes.size())) {
        give_ready(side, segment.timestamp_ns); // the packet ends before the missing bytes
        counts_.cut_bytes += skip(side, segment.cut_bytes);
    }
    give_full(side, segment.timestamp_ns);
}

// Of the bytes before the first one seen, those that the receiver did not have yet go first.
// Returns the bytes after them.
std::span<const uint8_t> Streams::put_early(Side &side, const Side &peer, const Segment &segment,
                                            uint32_t sequence)
{
    const uint32_t first = side.bytes.first_sequence();
    if (side.has_syn || !is_after(first, sequence))
        return segment.payload;
    std::span<const uint8_t> bytes =
        segment.payload.first(std::min<size_t>(segment.payload.size(), first - sequence));
    const auto rest = segment.payload.subspan(bytes.size());
    size_t had = 0;
    if (peer.acks.is_known() && is_after(peer.acks.acked(), sequence))
        had = std::min<size_t>(bytes.size(), peer.acks.acked() - sequence);
    if (first - sequence > EarlyBytes::kDistanceMost || side.early.is_full())
        had = bytes.size();
    bytes = bytes.subspan(had);
    const size_t kept = bytes.empty() ? 0 : side.early.put(sequence + uint32_t(had), bytes);
    counts_.repeated_bytes += had + bytes.size() - kept;
    counts_.early_bytes += had;
    if (!side.early.reaches(first))
        return rest;
    const EarlyBytes::Run run = side.early.take_last();
    if (!side.bytes.has_taken() && side.bytes.ready().size() <= kPrependMost) {
        side.bytes.prepend(run.bytes);
    } else {
        side.bytes.begin_earlier(run.sequence);
        cook_run(side, run, segment.timestamp_ns);
    }
    return rest;
}

// A FIN takes effect once everything before it has arrived; bytes that continue at its position
// show that it was not valid.
void Streams::close(Stream &stream, const Segment &segment, uint32_t end_sequence)
{
    Side &side = stream.sides[segment.from];
    if ((segment.flags & kFin) && !side.is_ended &&
        (!side.has_end || is_after(side.end_sequence, end_sequence))) {
        side.has_end = true;
        side.end_sequence = end_sequence;
    }
    if (!side.has_end || side.is_ended || !side.bytes.has_begun() ||
        is_after(side.end_sequence, side.bytes.next_sequence()))
        return;
    side.is_ended = side.bytes.next_sequence() == side.end_sequence;
    side.has_end = side.is_ended;
    if (!side.is_ended)
        return;
    give_ready(side, segment.timestamp_ns);
    if (side.bytes.has_hole()) { // nothing can follow the end
        ignore(side.bytes.waiting_bytes());
        side.bytes.forget_waiting();
    }
    stream.is_closed |= stream.sides[0].is_ended && stream.sides[1].is_ended;
}
} // namespace mapi::cooking
