// SPDX-License-Identifier: MIT
// Acks: one end's acknowledgments and windows -> which segments of the other end it accepts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "functions/cooking/head.hpp"
#include "functions/cooking/segment.hpp"

namespace mapi::cooking
{
// Sequence numbers wrap: `a` is after `b` if it is less than half of the number space ahead.
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

// Known once this end has acknowledged data sent by the other one.  Before that, and for packets
// whose numbers were not computed, nothing can be concluded from acknowledgments.
class Acks
{
public:
    bool is_known() const { return is_known_; }
    uint32_t acked() const { return acked_; } // everything up to here has arrived
    uint32_t edge() const { return edge_; }   // the end of its window
    // The end of the window with the largest scale, while the scale is unknown.
    uint32_t edge_most() const;
    std::optional<uint32_t> reported() const
    {
        return reported_;
    } // the last acknowledgment, valid or not

    // For its SYN, whose window is not scaled.
    void begin(const Segment &syn);
    // Both SYNs have been seen: from now on the scale is known (RFC 7323 2.2).
    void agree(Acks &other);

    // For a segment that the other end accepts; `sent_end` is the end of what that end has sent.
    void take(const Segment &segment, uint32_t sent_end);
    // Everything up to `end` is certainly accepted.
    void widen(uint32_t end);
    // The connection continues at another place, up to which this end has acknowledged it.
    void move(uint32_t acked);

    // Whether the acknowledgment is older than RFC 5961 5.2 allows.
    bool is_stale(uint32_t acknowledgment) const
    {
        return is_after(acked_ - window_most_, acknowledgment);
    }

private:
    uint32_t scaled(const Segment &segment) const
    {
        return segment.flags & kSyn ? segment.window : segment.window << scale_;
    }

    std::optional<uint8_t> offered_scale_;
    std::optional<uint32_t> reported_;
    bool has_begun_ = false, is_scale_known_ = false, is_known_ = false;
    uint8_t scale_ = 0; // while unknown: the smallest that explains the data in flight
    uint32_t acked_ = 0, edge_ = 0;
    uint32_t window_ = 0; // of the last packet, unscaled
    uint32_t window_most_ = 65535;
};
} // namespace mapi::cooking
