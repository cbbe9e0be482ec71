// SPDX-License-Identifier: MIT
// A BPF program -> at each step, how many captured bytes are needed for acceptance and how many are
// already proven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bpf_step.hpp"

namespace mapi::match
{
// bpf_filter() checks every load by itself.  One check may stand for several: if every way from
// here to acceptance loads up to byte n, a packet with fewer than n bytes is rejected here or
// later, and a filter has no other effect.
struct StepBounds {
    static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

    // Fewer captured bytes than this, or than X + this, end in rejection on every way.  kNever:
    // always rejected.
    uint64_t needed_bytes = kNever;
    uint64_t needed_past_x = kNever;

    // On arrival at least this many bytes, or X + this many, are there; 0 past X says nothing.
    uint64_t known_bytes = kNever;
    uint64_t known_past_x = kNever;
    uint64_t x_max = 0;
    bool is_reachable = false;

    bool is_always_rejected() const noexcept { return needed_bytes == kNever; }
    // The load at this step is to be guarded by a check for needed_bytes, or for X + needed_past_x.
    bool wants_check() const noexcept { return known_bytes < needed_bytes; }
    bool wants_check_past_x() const noexcept
    {
        return known_past_x < needed_past_x && known_bytes < x_max + needed_past_x;
    }
};

// Assumes that entry is guarded by a check for needed_bytes of step 0.
std::vector<StepBounds> find_bounds(BpfSteps steps);

// Scratch words, one bit each, that some way reads before it writes them.
uint16_t find_unwritten_words(BpfSteps steps);
} // namespace mapi::match
