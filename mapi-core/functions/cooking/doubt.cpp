// SPDX-License-Identifier: MIT
// Streams: segments that the receiver would not accept as far as the capture shows, kept until its
// acknowledgments decide.
#include <algorithm>
#include <utility>

#include "functions/cooking/streams.hpp"

namespace mapi::cooking
{
// Acceptability as in RFC 9293 3.10.7.4 and RFC 5961 5.2, if the numbers of both ends are known.
std::optional<Doubtful::Reason> Streams::doubt(const Stream &stream, const Segment &segment) const
{
    const Side &side = stream.sides[segment.from], &peer = stream.sides[1 - segment.from];
    const bool is_empty = segment.payload.empty() && !(segment.flags & kFin);
    if (side.acks.is_known()) {
        const uint32_t acknowledgment = segment.acknowledgment;
        if (!segment.has_acknowledgment || is_after(acknowledgment, peer.sent_end_most()) ||
            side.acks.is_stale(acknowledgment))
            return Doubtful::Reason::kAcknowledgment;
    }
    if (!side.has_sent)
        return std::nullopt;
    const uint32_t expected = side.expected();
    if (!is_empty && (side.is_ended || stream.is_closed) &&
        is_after(segment.end(), side.is_ended ? side.end_sequence : expected))
        return Doubtful::Reason::kClosed;
    if (!peer.acks.is_known())
        return std::nullopt;
    const uint32_t edge = peer.acks.edge();
    const bool is_beyond =
        is_after(segment.sequence, expected) &&
        (is_empty ? is_after(segment.sequence, edge) : !is_after(edge, segment.sequence));
    if (is_beyond || is_far(segment.sequence, expected))
        return Doubtful::Reason::kWindow;
    return std::nullopt;
}

void Streams::hold(Stream &stream, const Segment &segment, const Head &head,
                   Doubtful::Reason reason)
{
    Side &side = stream.sides[segment.from];
    const bool is_empty = segment.payload.empty() && !(segment.flags & kFin);
    if (is_empty ||
        (reason == Doubtful::Reason::kClosed && !stream.sides[1 - segment.from].acks.is_known()))
        return ignore(segment.payload.size());
    Doubtful held{
        segment, {segment.payload.begin(), segment.payload.end()}, head, reason, counts_.packets};
    held.segment.payload = {};
    side.doubtful.push_back(std::move(held));
    side.doubtful_bytes += segment.payload.size();
    bound_doubtful(stream, segment.from);
}

void Streams::drop_doubtful(Side &side, size_t place)
{
    ignore(side.doubtful[place].bytes.size());
    side.doubtful_bytes -= side.doubtful[place].bytes.size();
    side.doubtful.erase(side.doubtful.begin() + ptrdiff_t(place));
}

// Drops segments whose bytes have arrived otherwise.
void Streams::drop_overtaken(Side &side)
{
    for (size_t place = side.doubtful.size(); place-- > 0;) {
        const Doubtful &each = side.doubtful[place];
        if (!is_far(each.sequence(), side.expected()) &&
            !is_after(each.sent_end(), side.expected()))
            drop_doubtful(side, place);
    }
}

void Streams::accept_doubtful(Stream &stream, size_t place, unsigned from)
{
    Side &side = stream.sides[from];
    Doubtful taken = std::move(side.doubtful[place]);
    side.doubtful_bytes -= taken.bytes.size();
    side.doubtful.erase(side.doubtful.begin() + ptrdiff_t(place));
    if (taken.reason == Doubtful::Reason::kClosed) // so the stream was not closed
        stream.is_closed = side.is_ended = side.has_end = false;
    taken.segment.payload = taken.bytes;
    if (!side.bytes.has_begun())
        begin_side(stream, from, taken.sequence());
    accept(stream, taken.segment, taken.head);
}

// The receiver has sent this acknowledgment; is_taken: in an accepted packet, not in a doubtful
// one.  Later doubtful segments are tried first, since their bytes were in flight then.
void Streams::confirm(Stream &stream, unsigned from, uint32_t acknowledgment, bool is_taken)
{
    Side &side = stream.sides[from];
    for (const Doubtful &each : side.doubtful) {
        if (is_far(each.sequence(), side.expected()) &&
            acknowledgment - each.sequence() - 1 < each.sent_end() - each.sequence()) {
            resume(stream, from, Doubtful(each));
            stream.sides[1 - from].acks.move(acknowledgment);
            is_taken = true;
            break;
        }
    }
    for (size_t place = side.doubtful.size(); is_taken && place-- > 0;) {
        if (place >= side.doubtful.size()) // some have been dropped meanwhile
            continue;
        const Doubtful &each = side.doubtful[place];
        const bool is_behind_end = each.reason == Doubtful::Reason::kClosed && side.is_ended;
        if (is_far(each.sequence(), side.expected()) || is_after(each.sent_end(), acknowledgment) ||
            (is_behind_end && !is_after(acknowledgment, side.end_sequence + 1)))
            continue;
        accept_doubtful(stream, place, from);
    }
}

// The sender continues after a doubtful segment whose bytes were expected, so that segment was
// genuine.
void Streams::go_on_after(Stream &stream, const Segment &segment)
{
    Side &side = stream.sides[segment.from];
    for (size_t place = 0; place < side.doubtful.size(); ++place) {
        const Doubtful &each = side.doubtful[place];
        if (each.reason != Doubtful::Reason::kWindow || each.sent_end() != segment.sequence ||
            is_after(each.sequence(), side.expected()) ||
            !is_after(each.sent_end(), side.expected()))
            continue;
        accept_doubtful(stream, place, segment.from);
        return;
    }
}

// Continues the stream at a distant position.
void Streams::resume(Stream &stream, unsigned from, const Doubtful &at)
{
    Side &side = stream.sides[from];
    uint32_t first = at.sequence();
    for (const Doubtful &each : side.doubtful) {
        if (!is_far(each.sequence(), at.sequence()) && is_after(first, each.sequence()))
            first = each.sequence();
    }
    give_all(side, at.segment.timestamp_ns);
    side.bytes.begin(first);
    side.sent_end = first;
    side.has_sent = true;
    side.has_end = side.is_ended = stream.is_closed = false;
    ++counts_.holes;
}

// Too many doubtful segments: either the capture has a hole and nothing else arrives, or they are
// injected.
void Streams::bound_doubtful(Stream &stream, unsigned from)
{
    Side &side = stream.sides[from];
    const auto is_too_much = [&] {
        return side.doubtful.size() > order_.limits.hole_segments ||
               side.doubtful_bytes > order_.limits.hole_bytes;
    };
    if (!is_too_much())
        return;
    if (side.last_number < side.doubtful.front().number) {
        resume(stream, from, Doubtful(side.doubtful.front()));
        stream.sides[1 - from].acks.move(side.sent_end);
        while (!side.doubtful.empty())
            accept_doubtful(stream, 0, from);
    }
    while (is_too_much())
        drop_doubtful(side, 0);
}

// At the end, accepts segments that continue the accepted bytes, and the last segments after which
// the receiver was silent, if their acknowledgments are within the window.
void Streams::end_doubtful(Stream &stream, unsigned from)
{
    Side &side = stream.sides[from];
    const uint64_t heard = std::max(side.last_number, stream.sides[1 - from].last_number);
    const auto is_wanted = [&](const Doubtful &each) {
        const bool is_last = side.doubtful.front().number > heard;
        if (each.reason == Doubtful::Reason::kAcknowledgment)
            return is_last && each.segment.has_acknowledgment &&
                   !is_after(side.acks.acked(), each.segment.acknowledgment) &&
                   !is_after(each.segment.acknowledgment, side.acks.edge_most());
        if (each.reason ==
            Doubtful::Reason::kClosed) // a new stream, whose beginning was not captured
            return is_last && each.segment.has_acknowledgment &&
                   is_after(each.segment.acknowledgment, stream.sides[1 - from].sent_end);
        const bool is_next = !is_after(each.sequence(), side.expected()) &&
                             is_after(each.sent_end(), side.expected());
        return each.reason == Doubtful::Reason::kWindow && (is_next || is_last);
    };
    for (size_t place = 0; place < side.doubtful.size();) {
        const bool is_accepted = is_wanted(side.doubtful[place]);
        if (is_accepted)
            accept_doubtful(stream, place, from);
        place = is_accepted ? 0 : place + 1; // another one may be next now
    }
    while (!side.doubtful.empty())
        drop_doubtful(side, side.doubtful.size() - 1);
}
} // namespace mapi::cooking
