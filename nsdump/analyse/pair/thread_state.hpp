// SPDX-License-Identifier: MIT
// analyse: the open slices and units of one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/pair/crossing.hpp"
#include "analyse/pair/slice.hpp"
#include "analyse/pair/thread_frames.hpp"

namespace nsdump
{
inline constexpr uint32_t kNoCpu = ~uint32_t{0};

// Lists of threads, see ThreadsByCpu.
enum ThreadList { kOpenUnlost, kOpenSeen, kThreadLists };

struct ThreadState {
    uint32_t id = 0;
    uint32_t last_cpu_index = kNoCpu;
    bool has_moved = false; // it may be on any CPU, even one on which it was not seen
    uint32_t depth = 0;
    uint32_t overflow = 0;              // STARTs beyond the depth that are still open
    std::vector<NameId> overflow_names; // names of the first of these
    bool has_lossy_slices = false;      // some open slice may span a loss, so its STOP may be lost
    bool needs_care = false;            // has_lossy_slices, or slices cross or may cross
    std::unique_ptr<Crossings> crossings;       // made when the first slice is suspected
    std::array<bool, kThreadLists> is_listed{}; // by ThreadList
    std::vector<OpenSlice> frames;
    std::vector<CounterFrame> counters;                // parallel to frames; empty without counters
    std::vector<InterruptionFrame> interruptions;      // as frames; empty without kernel records
    std::vector<InterruptCounters> interrupt_counters; // parallel to counters; kernel side only
    std::vector<Unit> units;                           // reused; the first `open_units` are open
    uint32_t open_units = 0;
    Unit *unit = nullptr;     // the innermost open one
    uint64_t unit_serial = 0; // its serial; 0 if there is none

    // Prefetches this object, which points to the rest; prefetch_rest() is for a thread with
    // nothing open.
    void prefetch() const
    {
        for (size_t at = 0; at < sizeof *this; at += 64)
            __builtin_prefetch(reinterpret_cast<const char *>(this) + at, 1);
    }
    void prefetch_rest() const
    {
        for (size_t at = 0; at < 2 * sizeof(OpenSlice); at += 64)
            __builtin_prefetch(reinterpret_cast<const char *>(frames.data()) + at, 1);
        for (size_t at = 0; at < sizeof(Unit); at += 64)
            __builtin_prefetch(reinterpret_cast<const char *>(units.data()) + at, 1);
    }
    void set_open_units(uint32_t count)
    {
        open_units = count;
        unit = count > 0 ? &units[count - 1] : nullptr;
        unit_serial = unit ? unit->serial : 0;
    }
    bool is_undecided() const { return crossings && !crossings->is_empty(); }
    bool is_idle() const
    {
        return depth == 0 && overflow == 0 && open_units == 0 && !is_undecided();
    }
    // The open unit with this serial; null if it has ended.
    Unit *open_unit(uint64_t serial)
    {
        for (uint32_t i = 0; i < open_units; ++i)
            if (units[i].serial == serial)
                return &units[i];
        return nullptr;
    }
};
} // namespace nsdump
