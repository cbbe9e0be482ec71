// SPDX-License-Identifier: MIT
// Clock line: CLOCK_MONOTONIC, the clock of BPF programs -> ticks of the clock of user probes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nsbpf
{
// Both clocks, read together.
struct ClockPair {
    uint64_t ticks;
    uint64_t mono_ns;
    uint64_t width_ticks; // between the readings of the ticks before and after
};
// The closest of several tries.
ClockPair read_clocks();
uint64_t read_ticks(); // ordered

// A line through the pairs of the last time, since the kernel adjusts the rate of CLOCK_MONOTONIC.
class ClockLine
{
public:
    void add(const ClockPair &pair);
    // Needs two pairs.
    uint64_t ticks_at(uint64_t mono_ns) const;
    double ticks_per_ns() const { return slope_; }
    // The largest distance of a pair from the line when it was the newest, in ns.
    double residual_ns() const { return residual_ns_; }
    // The largest quotient of such a distance and of the time that the line's pairs cover: by this
    // part the slope, and with it a length, may be wrong.  Longer lengths than this time are not
    // more wrong, since they begin and end on different lines.
    double slope_error() const { return slope_error_; }

private:
    static constexpr size_t kPairs = 64;

    double span_ns() const;
    void fit();

    std::array<ClockPair, kPairs> pairs_ = {};
    size_t count_ = 0;
    uint64_t origin_ns_ = 0, origin_ticks_ = 0;
    double slope_ = 0, offset_ = 0; // ticks - origin_ticks_ = offset_ + slope_ * (ns - origin_ns_)
    double residual_ns_ = 0, slope_error_ = 0;
};
} // namespace nsbpf
