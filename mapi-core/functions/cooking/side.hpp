// SPDX-License-Identifier: MIT
// Side: the state of one direction of a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "functions/cooking/acks.hpp"
#include "functions/cooking/early_bytes.hpp"
#include "functions/cooking/half_stream.hpp"
#include "functions/cooking/head.hpp"

namespace mapi::cooking
{
// A segment that its receiver would not accept as far as the capture shows.  If the receiver
// acknowledges it later, it was accepted, and earlier packets are missing in the capture.
struct Doubtful {
    enum class Reason : uint8_t {
        kAcknowledgment, // missing, too old, or of data never sent
        kWindow,         // outside the window
        kClosed          // after the end of the stream
    };
    Segment segment; // without its bytes
    std::vector<uint8_t> bytes;
    Head head;
    Reason reason = Reason::kWindow;
    uint64_t number = 0; // of the packet

    static constexpr size_t kCost = 512; // in addition to its bytes
    uint32_t sequence() const { return segment.sequence; }
    uint32_t end() const { return segment.sequence + uint32_t(bytes.size()) + segment.cut_bytes; }
    uint32_t sent_end() const { return end() + (segment.flags & kFin ? 1 : 0); }
};

// A SYN with a number different from the stream's: it begins a new stream if the other end answers
// it.
struct Rival {
    Segment syn; // without bytes
    uint32_t first = 0;
    uint64_t number = 0; // of the packet
};

struct Side {
    HalfStream bytes;
    EarlyBytes early; // from before the first byte, whose position is unknown without a SYN
    std::vector<Doubtful> doubtful; // in order of arrival
    size_t doubtful_bytes = 0;
    std::unique_ptr<Rival> rival;
    Acks acks; // what this side's packets acknowledge
    Head head;
    uint64_t last_ns = 0;       // of a packet with payload
    uint64_t last_number = 0;   // of an accepted packet
    uint32_t end_sequence = 0;  // of its FIN
    uint32_t sent_end = 0;      // end of the accepted data, with SYN and FIN
    bool has_sent = false;      // sent_end is valid
    bool has_syn = false;       // its SYN has been seen: no data precedes its first byte
    bool is_syn_proven = false; // and it answers the other side's SYN
    bool permits_sack = false;
    bool has_end = false;  // its FIN has been seen
    bool is_ended = false; // and everything before it
    bool is_over = false;  // no more of its bytes are requested

    size_t held_bytes() const { return bytes.held_bytes() + early.held_bytes(); }
    size_t cost() const
    {
        return bytes.cost() + early.cost() + doubtful_bytes + doubtful.size() * Doubtful::kCost;
    }
    // The number that the receiver expects next.
    uint32_t expected() const
    {
        return bytes.has_begun() ? bytes.next_sequence() + is_ended : sent_end;
    }
    void note_sent(uint32_t end)
    {
        if (!has_sent || is_after(end, sent_end))
            sent_end = end;
        has_sent = true;
    }
    // Includes what may have been sent.
    uint32_t sent_end_most() const
    {
        uint32_t most = sent_end;
        for (const Doubtful &each : doubtful)
            most = is_after(each.sent_end(), most) ? each.sent_end() : most;
        return most;
    }
};
} // namespace mapi::cooking
