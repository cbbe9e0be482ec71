// SPDX-License-Identifier: MIT
#include "functions/cooking/acks.hpp"

namespace mapi::cooking
{
namespace
{
constexpr uint8_t kScaleMost = 14; // RFC 7323 2.3
}

void Acks::begin(const Segment &syn)
{
    offered_scale_ = syn.window_scale;
    has_begun_ = true;
}

void Acks::agree(Acks &other)
{
    if (!has_begun_ || !other.has_begun_)
        return;
    const bool is_scaled = offered_scale_ && other.offered_scale_;
    for (Acks *each : {this, &other}) {
        each->scale_ = is_scaled ? *each->offered_scale_ : 0;
        each->is_scale_known_ = true;
    }
}

void Acks::take(const Segment &segment, uint32_t sent_end)
{
    if (!segment.has_acknowledgment)
        return;
    const uint32_t acknowledgment = segment.acknowledgment;
    reported_ = acknowledgment;
    if (!is_known_) {
        if (sent_end - acknowledgment > kFarBytes)
            return;
        is_known_ = true;
        acked_ = edge_ = acknowledgment;
    }
    if (is_after(acknowledgment, sent_end) || is_stale(acknowledgment))
        return;
    if (is_after(acknowledgment, acked_))
        acked_ = acknowledgment;
    window_ = segment.flags & kSyn ? 0 : segment.window;
    window_most_ = std::max(window_most_, scaled(segment));
    if (const uint32_t edge = acknowledgment + scaled(segment); is_after(edge, edge_))
        edge_ = edge;
}

uint32_t Acks::edge_most() const
{
    const uint32_t most = acked_ + (window_ << kScaleMost);
    return !is_scale_known_ && is_after(most, edge_) ? most : edge_;
}

void Acks::widen(uint32_t end)
{
    if (!is_known_ || !is_after(end, edge_))
        return;
    edge_ = end;
    while (!is_scale_known_ && scale_ < kScaleMost && window_ != 0 &&
           is_after(end, acked_ + (window_ << scale_)))
        ++scale_;
    window_most_ = std::max(window_most_, window_ << scale_);
}

void Acks::move(uint32_t acked)
{
    is_known_ = true;
    acked_ = edge_ = acked;
}
} // namespace mapi::cooking
