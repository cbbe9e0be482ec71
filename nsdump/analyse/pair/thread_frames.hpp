// SPDX-License-Identifier: MIT
// analyse: one open slice, and what is known about its contents so far.
#pragma once

#include <array>
#include <cstdint>

#include "analyse/pair/slice.hpp"

namespace nsdump
{
struct OpenSlice {
    NameId name = 0;
    uint32_t cpu_index = 0;
    uint64_t start_ticks = 0;
    uint64_t unit_serial = 0; // 0: no unit was open
    int64_t child_ticks = 0;
    uint32_t children = 0;
    uint32_t counted_children = 0; // those with counters
    uint32_t switches = 0;         // PairState::switches_ of its CPU at its START
    bool has_counters = false;
    bool spans_loss = false;
    bool is_crossed = false; // with a slice that began before it and ended inside it
    uint8_t start_calls = 0; // of BPF programs by its START; below, as of Slice
    ProgramCounts programs;
    ProgramCounts programs_in_children;
    ProbeCounts own; // probes directly inside
    ProbeCounts in_children;

    // Opens it.  By member: compilers clear an object of this size by an instruction that takes
    // longer than all else that a START needs.
    void begin(NameId new_name, uint32_t new_cpu_index, uint64_t ticks, uint64_t new_unit_serial,
               uint32_t new_switches)
    {
        name = new_name;
        cpu_index = new_cpu_index;
        start_ticks = ticks;
        unit_serial = new_unit_serial;
        child_ticks = 0;
        children = counted_children = 0;
        switches = new_switches;
        has_counters = spans_loss = is_crossed = false;
        start_calls = 0;
        programs = programs_in_children = {};
        own.clear();
        in_children.clear();
    }
};

struct CounterFrame {
    std::array<uint64_t, NSLICE_MAX_COUNTERS> start;
    std::array<int64_t, NSLICE_MAX_COUNTERS> child_sum;
};

struct InterruptionFrame {
    Interruptions all;
    Interruptions in_children;
    bool is_unseen = false; // kernel records are lost for part of it
};

// Counts of the interrupts inside a kernel slice, and of those in slices inside it.
struct InterruptCounters {
    std::array<int64_t, NSLICE_MAX_COUNTERS> all;
    std::array<int64_t, NSLICE_MAX_COUNTERS> in_children;
};
} // namespace nsdump
