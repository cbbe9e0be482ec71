// SPDX-License-Identifier: MIT
// Streams: SYN and RST -> streams that begin and end as both hosts see it (RFC 9293 3.10.7, RFC
// 5961 3 and 4).
#include <algorithm>
#include <iterator>

#include "functions/cooking/streams.hpp"

namespace mapi::cooking
{
// A host with a connection ignores a SYN.  A SYN with another number may begin a new stream between
// the same ends: the answer of the other end decides, and until then it changes nothing.  An answer
// to another SYN is accepted until a better one arrives.
Streams::List::iterator Streams::take_syn(List::iterator stream, const Segment &segment,
                                          const Head &head)
{
    const uint32_t first = segment.sequence + 1;
    const bool is_answer = segment.flags & kAck;
    const Rival *const asked = stream->sides[1 - segment.from].rival.get();
    if (is_answer && asked && segment.acknowledgment == asked->first)
        stream = renew(stream, 1 - segment.from);
    Side &side = stream->sides[segment.from];
    const Side &peer = stream->sides[1 - segment.from];
    const bool is_new = !side.bytes.has_begun() && !side.has_sent;
    const bool is_proven = !is_answer || !segment.has_acknowledgment || !peer.has_syn ||
                           (!is_after(peer.bytes.first_sequence(), segment.acknowledgment) &&
                            !is_after(segment.acknowledgment, peer.sent_end));
    const bool is_corrected = is_proven && side.has_syn && !side.is_syn_proven &&
                              !side.bytes.has_taken() && side.held_bytes() == 0;
    if (side.bytes.has_begun() && side.bytes.first_sequence() == first) {
        side.is_syn_proven |= is_proven;
        open(*stream, segment, head);
    } else if (is_new || is_corrected) {
        side.has_sent = false;
        begin_side(*stream, segment.from, first);
        side.is_syn_proven = is_proven;
        open(*stream, segment, head);
    } else if (!is_answer && stream->is_closed) {
        end(stream);
        stream = begin(segment);
        begin_side(*stream, segment.from, first);
        stream->sides[segment.from].is_syn_proven = true;
        open(*stream, segment, head);
    } else {
        if (!is_answer)
            side.rival = std::make_unique<Rival>(Rival{segment, first, counts_.packets});
        ignore(segment.payload.size());
    }
    return stream;
}

// For a side whose first byte has the SYN's number.
void Streams::open(Stream &stream, const Segment &syn, const Head &head)
{
    Side &side = stream.sides[syn.from], &peer = stream.sides[1 - syn.from];
    side.has_syn = true;
    side.permits_sack = syn.permits_sack;
    side.acks.begin(syn);
    side.acks.agree(peer.acks);
    if (peer.has_sent)
        side.acks.take(syn, peer.sent_end);
    Segment data = syn;
    data.sequence += 1;
    accept(stream, data, head);
}

// Starts the stream that the rival SYN requested, with what has arrived since then.
Streams::List::iterator Streams::renew(List::iterator stream, unsigned client)
{
    const Rival rival = *stream->sides[client].rival;
    std::vector<Doubtful> since;
    for (Side &side : stream->sides) {
        for (size_t place = side.doubtful.size(); place-- > 0;) {
            if (side.doubtful[place].number < rival.number)
                drop_doubtful(side, place);
        }
        std::move(side.doubtful.begin(), side.doubtful.end(), std::back_inserter(since));
        side.doubtful.clear();
        side.doubtful_bytes = 0;
    }
    Segment syn = rival.syn;
    syn.payload = {};
    end(stream);
    stream = begin(syn);
    begin_side(*stream, client, rival.first);
    stream->sides[client].is_syn_proven = true;
    open(*stream, syn, Head{});
    std::sort(since.begin(), since.end(),
              [](const Doubtful &a, const Doubtful &b) { return a.number < b.number; });
    for (Doubtful &each : since) {
        each.segment.payload = each.bytes;
        stream = take_segment(stream, each.segment, each.head);
    }
    return stream;
}

// A RST is accepted at exactly the expected number, or, while its receiver waits for earlier bytes,
// at the end of the data that it has; in answer to a SYN, by its acknowledgment.
void Streams::take_reset(Stream &stream, const Segment &segment)
{
    const Side &side = stream.sides[segment.from], &peer = stream.sides[1 - segment.from];
    const auto is_reset = [&] {
        if (!side.has_sent) {
            if (segment.has_acknowledgment && peer.has_syn && !peer.acks.is_known())
                return segment.acknowledgment == peer.bytes.first_sequence() ||
                       segment.acknowledgment == peer.sent_end;
            return peer.acks.reported() == segment.sequence;
        }
        const uint32_t expected = side.expected(), acked = peer.acks.acked();
        if (segment.sequence == expected || (side.is_ended && segment.sequence + 1 == expected))
            return true;
        if (peer.acks.is_known() && is_after(acked, expected) &&
            segment.sequence == acked) // the receiver has data missing in the capture
            return true;
        const bool permits_sack =
            side.has_syn && peer.has_syn ? side.permits_sack && peer.permits_sack : true;
        return side.bytes.has_hole() && permits_sack && segment.sequence == side.sent_end;
    };
    if (stream.is_closed || !is_reset())
        return ignore(segment.payload.size());
    stream.is_closed = true;
    counts_.other_bytes +=
        segment.payload.size(); // at most a textual reason: not part of the stream
    for (Side &each : stream.sides)
        give_ready(each, segment.timestamp_ns);
}
} // namespace mapi::cooking
