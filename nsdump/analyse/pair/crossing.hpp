// SPDX-License-Identifier: MIT
// analyse: slices of one thread that overlap without nesting -> distinguished from those that only lack a STOP.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyse/pair/slice.hpp"
#include "analyse/pair/thread_frames.hpp"

namespace nsdump
{
// START a, START b, STOP a: if a STOP of b follows, the two cross (coroutines that share a thread); if none does, b lost its STOP
// (an early return) and nothing is wrong with a.  So b is suspected, and a is held until that is known.
struct Suspect {
    OpenSlice frame;             // of b, as it was when it was taken off the stack
    std::uint32_t low_depth = 0; // the thread's least depth since: what is open there or deeper began after b
};

// A slice that ended while a slice inside it was open.  The pointers of `slice` are made anew when it is given out.
struct HeldSlice {
    Slice slice{};
    std::uint64_t unit_serial = 0; // 0: in none
    std::uint32_t waits = 0;       // for suspects, by the bit of their place
    bool has_interruptions = false;
    bool has_interrupt_counters = false;
    bool has_counters = false;
    bool has_child_counters = false;
    std::array<std::int64_t, NSLICE_MAX_COUNTERS> counters{};
    std::array<std::int64_t, NSLICE_MAX_COUNTERS> child_counters{};
    Interruptions all, in_children;
    InterruptCounters interrupt_counters{};

    HeldSlice() = default;
    HeldSlice(const Slice &ended, std::size_t counter_count);
    // With the pointers set; `unit`: the one with unit_serial, or null.  Valid as long as this stays where it is.
    const Slice &given(Unit *unit);
};

// What is undecided on one thread.
struct Crossings {
    static constexpr std::uint32_t kMaxSuspects = 16; // bits of HeldSlice::waits; of more, none is suspected

    std::vector<Suspect> suspects; // at most one of a name; places out of use stay
    std::vector<HeldSlice> held;   // at most one for each depth and suspect
    std::uint32_t suspected = 0;   // places in use

    void suspect(const OpenSlice &frame);
    // The place of the suspect with this name, kMaxSuspects where there is none.
    std::uint32_t find(NameId name) const;
    bool is_empty() const { return suspected == 0 && held.empty(); }
    // Of a slice that ends at this depth: the suspects that began inside it.
    std::uint32_t enclosed_by(std::uint32_t depth);
};
} // namespace nsdump
