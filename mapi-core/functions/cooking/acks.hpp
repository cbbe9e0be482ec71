// SPDX-License-Identifier: MIT
// Acks: one end's acknowledgments and windows -> which of the other end's segments it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "functions/cooking/head.hpp"
#include "functions/cooking/segment.hpp"

namespace mapi::cooking
{
// Sequence numbers wrap: `a` is behind `b` when it is the nearer one on that side.
inline bool is_after(uint32_t a, uint32_t b)
{
    return int32_t(a - b) > 0;
}

// Farther from the expected number than any window reaches.
constexpr uint32_t kFarBytes = 16u << 20;

inline bool is_far(uint32_t sequence, uint32_t expected)
{
    return sequence - expected > kFarBytes && expected - sequence > kFarBytes;
}

// Known once this end has acknowledged something that the other one had sent.  Before that, and of packets whose numbers nobody
// computed, nothing follows from them.
class Acks
{
public:
    bool is_known() const { return is_known_; }
    uint32_t acked() const { return acked_; } // up to here it has all
    uint32_t edge() const { return edge_; }   // of its window
    // Where it ends with the largest scale, while that is not known.
    uint32_t edge_most() const;
    std::optional<uint32_t> told() const { return told_; } // the last number, whatever follows from it

    // Of its SYN, whose window is not scaled.
    void begin(const Segment &syn);
    // Both SYNs have been seen: from now on the scale is known (RFC 7323 2.2).
    void agree(Acks &other);

    // Of a segment that the other end takes; `sent_end` is where what that one has sent ends.
    void take(const Segment &segment, uint32_t sent_end);
    // What it takes without a doubt ends there.
    void widen(uint32_t end);
    // The connection goes on elsewhere, and this end has acknowledged it there.
    void move(uint32_t acked);

    // An acknowledgment older than RFC 5961 5.2 allows.
    bool is_stale(uint32_t acknowledgment) const { return is_after(acked_ - window_most_, acknowledgment); }

private:
    uint32_t scaled(const Segment &segment) const { return segment.flags & kSyn ? segment.window : segment.window << scale_; }

    std::optional<uint8_t> offered_scale_;
    std::optional<uint32_t> told_;
    bool has_begun_ = false, is_scale_known_ = false, is_known_ = false;
    uint8_t scale_ = 0; // while it is not known: the least that explains what is in flight
    uint32_t acked_ = 0, edge_ = 0;
    uint32_t window_ = 0; // of the last packet, not scaled
    uint32_t window_most_ = 65535;
};
} // namespace mapi::cooking
