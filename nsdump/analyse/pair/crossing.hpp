// SPDX-License-Identifier: MIT
// analyse: slices of one thread that overlap -> crossed, or only a missing STOP?
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyse/pair/slice.hpp"
#include "analyse/pair/thread_frames.hpp"

namespace nsdump
{
// START a, START b, STOP a: if a STOP of b follows, the two cross (coroutines that share a thread).
// If none follows, b has no STOP (an early return) and a is valid.  So b becomes a suspect, and a
// is held until this is decided.
struct Suspect {
    OpenSlice frame;        // of b, when it was removed from the stack
    uint32_t low_depth = 0; // minimum depth since; slices at this depth or deeper are newer
};

// A slice that ended while a slice inside it was open.  The pointers of `slice` are set when it is
// passed on.
struct HeldSlice {
    Slice slice{};
    uint64_t unit_serial = 0; // 0: not in a unit
    uint32_t waits = 0;       // bit mask of the places of suspects that it waits for
    bool has_interruptions = false;
    bool has_interrupt_counters = false;
    bool has_counters = false;
    bool has_child_counters = false;
    std::array<int64_t, NSLICE_MAX_COUNTERS> counters{};
    std::array<int64_t, NSLICE_MAX_COUNTERS> child_counters{};
    Interruptions all, in_children;
    InterruptCounters interrupt_counters{};

    HeldSlice() = default;
    HeldSlice(const Slice &ended, size_t counter_count);
    // The slice with its pointers set; `unit`: the one with unit_serial, or null.  Valid until this
    // object is moved.
    const Slice &given(Unit *unit);
};

// Undecided slices of one thread.
struct Crossings {
    static constexpr uint32_t kMaxSuspects =
        16; // bits of HeldSlice::waits; further ones are ignored

    std::vector<Suspect> suspects; // at most one per name; unused places remain
    std::vector<HeldSlice> held;   // at most one for each depth and suspect
    uint32_t suspected = 0;        // places in use

    void suspect(const OpenSlice &frame);
    // The place of the suspect with this name; kMaxSuspects if there is none.
    uint32_t find(NameId name) const;
    bool is_empty() const { return suspected == 0 && held.empty(); }
    // The suspects that began inside a slice that ends at this depth.
    uint32_t enclosed_by(uint32_t depth);
};
} // namespace nsdump
