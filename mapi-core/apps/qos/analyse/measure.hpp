// SPDX-License-Identifier: MIT
// measure: packets on their way -> delay, its variation, loss, duplicates, order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qos/analyse/loss_interval.hpp"

namespace qos
{
// A packet that the sending point has seen.  Times are by the sending point's clock.
struct Passage {
    int64_t sent_ns = 0;
    int64_t arrived_ns = 0; // raw, by the receiving point's clock; corrected if clocks have steps
    double delay_ns = 0;    // corrected for the offset of the clocks
    uint32_t flow = 0;
    uint32_t copies = 0; // that have arrived; 0: lost
};

struct Delays {
    double min_ms = 0, mean_ms = 0, max_ms = 0;
    double p50_ms = 0, p95_ms = 0, p99_ms = 0;
    Interval mean_interval_ms; // 95 %, of all packets
};

// Of each packet that has arrived, against the one that has arrived before it (RFC 3393).
struct Variation {
    uint64_t pairs = 0;
    double mean_abs_ms = 0, min_ms = 0, max_ms = 0;
    double jitter_ms = 0; // RFC 3550, after the last packet
};

struct Measured {
    uint64_t sent = 0;
    uint64_t received = 0; // of these
    uint64_t lost = 0;
    uint64_t duplicates = 0; // further copies
    uint64_t reordered = 0;  // RFC 4737: a packet that was sent later had arrived before
    Interval loss_interval;
    std::optional<Delays> delays;
    std::optional<Variation> variation;

    double loss() const { return sent ? double(lost) / double(sent) : 0; }
};

// passages: in the order in which they were sent.  rate: part of all packets that was selected.
Measured measure(const std::vector<Passage> &passages, double rate);
} // namespace qos
