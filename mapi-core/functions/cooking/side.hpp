// SPDX-License-Identifier: MIT
// Side: what is known of one direction of a stream.
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
// A segment that its receiver would not accept as far as the capture shows.  If the receiver acknowledges it later, it was accepted, and
// packets before it are missing in the capture.
struct Doubtful {
    enum class Reason : uint8_t {
        kAcknowledgment, // of what nobody sent, too old, or none
        kWindow,         // beyond it
        kClosed          // behind the end
    };
    Segment segment; // without its bytes
    std::vector<uint8_t> bytes;
    Head head;
    Reason reason = Reason::kWindow;
    uint64_t number = 0; // of the packet

    static constexpr size_t kCost = 512; // beside its bytes
    uint32_t sequence() const { return segment.sequence; }
    uint32_t end() const { return segment.sequence + uint32_t(bytes.size()) + segment.cut_bytes; }
    uint32_t sent_end() const { return end() + (segment.flags & kFin ? 1 : 0); }
};

// A SYN with another number than that of the stream: it begins a new stream if the other end answers it.
struct Rival {
    Segment syn; // without bytes
    uint32_t first = 0;
    uint64_t number = 0; // of the packet
};

struct Side {
    HalfStream bytes;
    EarlyBytes early; // from before the first byte, when no SYN says where that is
    std::vector<Doubtful> doubtful; // as they came
    size_t doubtful_bytes = 0;
    std::unique_ptr<Rival> rival;
    Acks acks; // what this side's packets say of the other side's
    Head head;
    uint64_t last_ns = 0;      // of a packet with payload
    uint64_t last_number = 0;  // of a packet that was taken
    uint32_t end_sequence = 0; // of its FIN
    uint32_t sent_end = 0;     // of what was taken, with SYN and FIN
    bool has_sent = false;     // there is a sent_end
    bool has_syn = false;      // its SYN has been seen: nothing is before its first byte
    bool is_syn_proven = false; // and it answers the other one's
    bool permits_sack = false;
    bool has_end = false;      // its FIN has been seen
    bool is_ended = false;     // and all before it
    bool is_over = false;      // nothing more of it is asked for

    size_t held_bytes() const { return bytes.held_bytes() + early.held_bytes(); }
    size_t cost() const { return bytes.cost() + early.cost() + doubtful_bytes + doubtful.size() * Doubtful::kCost; }
    // What the receiver waits for.
    uint32_t expected() const { return bytes.has_begun() ? bytes.next_sequence() + is_ended : sent_end; }
    void note_sent(uint32_t end)
    {
        if (!has_sent || is_after(end, sent_end))
            sent_end = end;
        has_sent = true;
    }
    // With what may have been sent.
    uint32_t sent_end_most() const
    {
        uint32_t most = sent_end;
        for (const Doubtful &each : doubtful)
            most = is_after(each.sent_end(), most) ? each.sent_end() : most;
        return most;
    }
};
} // namespace mapi::cooking
