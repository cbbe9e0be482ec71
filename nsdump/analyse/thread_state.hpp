// SPDX-License-Identifier: MIT
// analyse: what is open on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyse/slice.hpp"

namespace nsdump
{
struct OpenSlice {
    NameId name = 0;
    std::uint32_t cpu_index = 0;
    std::uint64_t start_ticks = 0;
    std::uint64_t unit_serial = 0; // 0: no unit was open
    std::int64_t child_ticks = 0;
    std::uint32_t children = 0;
    std::uint32_t counted_children = 0; // those that had counters
    ProbeCounts own;                    // probes directly inside
    ProbeCounts in_children;
    std::uint32_t switches = 0; // of its CPU's, when it began
    bool has_counters = false;
    bool spans_loss = false;
};

struct CounterFrame {
    std::array<std::uint64_t, NSLICE_MAX_COUNTERS> start;
    std::array<std::int64_t, NSLICE_MAX_COUNTERS> child_sum;
};

struct InterruptionFrame {
    Interruptions all;
    Interruptions in_children;
    bool is_unseen = false; // the kernel's records of a part of it are lost
};

// What interrupts inside a slice of the kernel's counted, and those inside of slices inside.
struct InterruptCounters {
    std::array<std::int64_t, NSLICE_MAX_COUNTERS> all;
    std::array<std::int64_t, NSLICE_MAX_COUNTERS> in_children;
};

inline constexpr std::uint32_t kNoCpu = ~std::uint32_t{0};

// Lists of threads, see ThreadsByCpu.
enum ThreadList { kOpenUnlost, kOpenSeen, kThreadLists };

struct ThreadState {
    std::uint32_t id = 0;
    std::uint32_t last_cpu_index = kNoCpu;
    bool has_moved = false; // it may be anywhere, also where nothing of it was seen
    std::uint32_t depth = 0;
    std::uint32_t overflow = 0; // STARTs beyond the depth that are still open
    bool has_lossy_slices = false; // some open slice may span a loss, so that its STOP may be among the lost
    std::array<bool, kThreadLists> is_listed{}; // by ThreadList
    std::vector<OpenSlice> frames;
    std::vector<CounterFrame> counters; // parallel to frames, empty without counters
    std::vector<InterruptionFrame> interruptions; // parallel to frames, empty without the kernel's records
    std::vector<InterruptCounters> interrupt_counters; // parallel to counters, of the kernel only
    std::vector<Unit> units;            // reused; the first `open_units` are open
    std::uint32_t open_units = 0;
    Unit *unit = nullptr;          // the innermost open one
    std::uint64_t unit_serial = 0; // its serial, 0 without one

    void set_open_units(std::uint32_t count)
    {
        open_units = count;
        unit = count > 0 ? &units[count - 1] : nullptr;
        unit_serial = unit ? unit->serial : 0;
    }
    bool is_idle() const { return depth == 0 && overflow == 0 && open_units == 0; }
};
} // namespace nsdump
