// SPDX-License-Identifier: MIT
// A BPF program -> how many captured bytes acceptance needs at each step, and how many are already
// proven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
// bpf_filter() checks every load separately.  One check can replace several: if every path from
// here to acceptance loads up to byte n, a packet with fewer than n bytes is rejected here or
// later, and a filter has no other effect.
struct StepBounds {
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

    // With fewer captured bytes than this, or than X + this, every path ends in rejection.  kNever:
    // always rejected.
    uint64_t needed_bytes = kNever;
    uint64_t needed_past_x = kNever;

    // At least this many bytes, or X + this many, are present on arrival; 0 past X means unknown.
    uint64_t known_bytes = kNever;
    uint64_t known_past_x = kNever;
    uint64_t x_max = 0;
    bool is_reachable = false;

    bool is_always_rejected() const noexcept { return needed_bytes == kNever; }
    // The load at this step needs a check for needed_bytes, or for X + needed_past_x, before it.
    bool wants_check() const noexcept { return known_bytes < needed_bytes; }
    bool wants_check_past_x() const noexcept
    {
        return known_past_x < needed_past_x && known_bytes < x_max + needed_past_x;
    }
};

// Whether a check for X + n bytes is a check for n bytes, too.  The kernel's verifier does not
// conclude that.
enum class PastX { kProvesBytes, kProvesNothing };

// Assumes that a check for needed_bytes of step 0 precedes entry.
std::vector<StepBounds> find_bounds(BpfSteps steps, PastX past_x);

// Scratch words, one bit each, that some path reads before writing them.
uint16_t find_unwritten_words(BpfSteps steps);
} // namespace mapi::match
