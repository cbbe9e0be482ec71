// SPDX-License-Identifier: MIT
// analyse: the slice, a START with its STOP and what lies between them; raw integers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "analyse/pair/seen_names.hpp"
#include "decode/names.hpp"

namespace nsdump
{
// Values from a hostile trace must not cause signed overflow.
inline int64_t wrapping_sum(int64_t a, int64_t b)
{
    return int64_t(uint64_t(a) + uint64_t(b));
}

inline int64_t wrapping_difference(int64_t a, int64_t b)
{
    return int64_t(uint64_t(a) - uint64_t(b));
}

// Number of probes of each kind, in the order of ProbeIndex.  Always read and written as a whole: a
// wide read after a narrower write stalls until that write and all earlier ones have reached the
// cache.
struct alignas(16) ProbeCounts {
    uint32_t ends = 0; // STARTs and STOPs: a slice inside has two, an unmatched one has one
    uint32_t marks = 0;
    uint32_t inits = 0;
    uint32_t exits = 0;

    ProbeCounts &operator+=(const ProbeCounts &other) { return set(lanes() + other.lanes()); }
    ProbeCounts &operator-=(const ProbeCounts &other) { return set(lanes() - other.lanes()); }
    ProbeCounts &operator|=(const ProbeCounts &other) { return set(lanes() | other.lanes()); }
    void clear() { set(Lanes{}); }
    bool operator==(const ProbeCounts &other) const { return is_zero(lanes() ^ other.lanes()); }
    // `masks`: the bits that each count may have.
    bool is_within(const ProbeCounts &masks) const { return is_zero(lanes() & ~masks.lanes()); }

private:
    typedef uint32_t Lanes __attribute__((vector_size(16)));
    typedef uint64_t Halves __attribute__((vector_size(16)));

    static bool is_zero(Lanes lanes)
    {
        const auto halves = reinterpret_cast<Halves>(lanes);
        return (halves[0] | halves[1]) == 0;
    }
    Lanes lanes() const
    {
        Lanes lanes;
        std::memcpy(&lanes, this, sizeof lanes);
        return lanes;
    }
    ProbeCounts &set(Lanes lanes)
    {
        std::memcpy(static_cast<void *>(this), &lanes, sizeof lanes);
        return *this;
    }
};

// The probes that do not lie in a slice inside.
inline ProbeCounts own_probes(ProbeCounts all, const ProbeCounts &in_children)
{
    all -= in_children;
    return all;
}

// Records of BPF programs that cost more than others of their kind.
struct ProgramCounts {
    uint32_t calls = 0;  // with the call of their program
    uint32_t behind = 0; // in a program right behind another record, in kBehindParts

    ProgramCounts &operator+=(const ProgramCounts &other)
    {
        calls += other.calls;
        behind += other.behind;
        return *this;
    }
    ProgramCounts &operator-=(const ProgramCounts &other)
    {
        calls -= other.calls;
        behind -= other.behind;
        return *this;
    }
    ProgramCounts operator-(const ProgramCounts &other) const
    {
        ProgramCounts left = *this;
        return left -= other;
    }
    static constexpr uint32_t kBehindParts = 8; // of a record

    double records_behind() const { return double(behind) / kBehindParts; }
    bool any() const { return (calls | behind) != 0; }
    bool operator==(const ProgramCounts &) const = default;
};

// Records of slices that are not made by macros, by way (Name::way - 1).
struct WayCounts {
    std::array<int32_t, kWays> ends{};   // STARTs and STOPs inside
    std::array<int32_t, kWays> slices{}; // the slice itself; in sums over children, each of them

    bool operator==(const WayCounts &) const = default;
    WayCounts &operator+=(const WayCounts &other) { return add(other, 1); }
    WayCounts &operator-=(const WayCounts &other) { return add(other, -1); }

private:
    WayCounts &add(const WayCounts &other, int32_t sign)
    {
        for (unsigned way = 0; way < kWays; ++way) {
            ends[way] += sign * other.ends[way];
            slices[way] += sign * other.slices[way];
        }
        return *this;
    }
};

// Time inside a slice that the slice did not use, according to the kernel's records.
struct Interruptions {
    int64_t ticks = 0; // of interrupts, from START to STOP, and while other threads had the CPU
    uint32_t interrupts = 0; // outermost hard and soft interrupts
    uint32_t switches = 0;   // times that the thread left the CPU and came back
    ProbeCounts probes;      // kernel probes in this thread: its own, and two per interrupt
    ProgramCounts programs;  // of these probes, but not of interrupts' STOPs
    WayCounts ways;

    bool any() const
    {
        return (interrupts | switches) != 0 || probes != ProbeCounts{} || ways != WayCounts{};
    }
    Interruptions &operator+=(const Interruptions &other)
    {
        ticks = wrapping_sum(ticks, other.ticks);
        interrupts += other.interrupts;
        switches += other.switches;
        probes += other.probes;
        programs += other.programs;
        ways += other.ways;
        return *this;
    }
    Interruptions &operator-=(const Interruptions &other)
    {
        ticks = wrapping_difference(ticks, other.ticks);
        interrupts -= other.interrupts;
        switches -= other.switches;
        probes -= other.probes;
        programs -= other.programs;
        ways -= other.ways;
        return *this;
    }
};

// Sums over the slices directly inside a slice, or inside many slices.
struct ChildSums {
    double raw = 0;
    uint64_t count = 0;
    uint64_t ends = 0, marks = 0, inits = 0, exits = 0; // probes inside them
    ProgramCounts programs;                             // as of Slice

    void add(double raw_sum, uint32_t slices, const ProbeCounts &probes)
    {
        raw += raw_sum;
        count += slices;
        ends += probes.ends;
        marks += probes.marks;
        inits += probes.inits;
        exits += probes.exits;
    }
};

struct Unit {
    NameId name = 0;
    uint64_t number = 0;
    uint64_t packets = 0;
    uint64_t wire_bytes = 0;
    uint64_t serial = 0;      // number of the unit among those of its side (PairSide), from 1
    uint64_t start_ticks = 0; // this and the two below: of its INIT
    uint32_t thread_id = 0;
    uint32_t cpu = 0;
    SeenNames seen;
};

struct Slice {
    NameId name;
    uint32_t cpu_index; // of the STOP
    uint32_t thread_id;
    uint32_t depth; // 0: outermost
    uint64_t start_ticks;
    uint64_t stop_ticks;
    int64_t raw_ticks;
    int64_t child_ticks; // sum of raw over the slices directly inside
    uint32_t children;
    ProbeCounts inside;      // all probes completed inside
    ProbeCounts in_children; // those of them that are in slices inside
    bool is_migrated;        // START and STOP on different CPUs
    bool is_interrupted;     // another thread wrote on its CPU: this one was preempted or waited
    bool spans_loss;         // records of its CPU were lost while it was open: contents unknown
    bool is_crossed;         // overlaps another slice of the thread without nesting
    Unit *unit; // the unit in which it ended, unless it began in another one; else null
    const int64_t *counters;       // raw values; null if counters were not running
    const int64_t *child_counters; // sums over the slices directly inside; null if one has none
    // From the kernel's records; null if there is nothing to subtract.
    const Interruptions *interruptions;             // all inside
    const Interruptions *interruptions_in_children; // those of them that are in slices inside
    const int64_t *interrupt_counters;              // kernel slices only: by interrupts inside
    const int64_t *interrupt_counters_in_children;
    uint32_t kernel_index; // as cpu_index, for the constants of the kernel's probes inside
    // Kernel slices that BPF programs recorded: the probes inside and the STOP; the sum of the same
    // over the slices directly inside.
    ProgramCounts programs;
    ProgramCounts programs_in_children;
};

// What distinguishes most slices: neither migrated nor crossed nor next to a loss, without
// counters, and with nothing of the kernel or of BPF programs inside.
struct PlainSlice {
    NameId name;
    uint32_t cpu_index;
    int64_t raw_ticks;
    Unit *unit; // this and those below: as of Slice
    int64_t child_ticks;
    uint32_t children;
    ProbeCounts inside;
    ProbeCounts in_children;
};

// What most of these have inside: nothing but leaves, which are slices with nothing inside, or not
// even that.
struct LeavesSlice {
    NameId name;
    uint32_t cpu_index;
    int64_t raw_ticks;
    Unit *unit;             // as of Slice
    int64_t leaf_ticks = 0; // sum of raw over the leaves
    uint32_t leaves = 0;
};

// A sink of the pairer that takes them as such.  It may return false to get the Slice instead.
template <class Sink>
concept TakesPlainSlices = requires(Sink &sink, const PlainSlice &slice, const LeavesSlice &leaves)
{
    sink.plain(slice) ? 1 : 0;
    sink.leaves(leaves) ? 1 : 0;
};

// A sink of the pairer that also gets each STOP without a START, with the unit that is open, or
// null.
template <class Sink>
concept TakesUnmatchedStops = requires(Sink &sink, const Unit *unit)
{
    sink.unmatched_stop(NameId{}, unit, uint64_t{});
};
} // namespace nsdump
