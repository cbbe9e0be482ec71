// SPDX-License-Identifier: MIT
// export: slices of one stack, in the order of their STOPs -> slices in the order of their STARTs,
// nested, on a main lane; those that do not fit in there on further lanes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyse/correct/slice_net.hpp"

namespace nsdump
{
// What is kept of a slice until it is written.
struct TimelineSlice {
    NameId name = 0;
    uint32_t cpu_index = 0;
    uint32_t thread_id = 0;
    uint32_t depth = 0;
    uint64_t start_ns = 0;
    uint64_t stop_ns = 0;
    int64_t raw_ticks = 0;
    double net_ticks = 0;
    bool has_net_ticks = false;
    bool is_crossed = false;
    bool has_unit = false;
    bool has_counters = false;
    SliceClass of_class = SliceClass::ok;
    uint8_t known_nets = 0; // bit by counter
    NameId unit_name = 0;
    uint64_t unit_number = 0;
    uint64_t packets = 0;
    std::array<int64_t, NSLICE_MAX_COUNTERS> raw_counters{};
    std::array<double, NSLICE_MAX_COUNTERS> net_counters{};

    bool is_of_same_unit(const TimelineSlice &other) const
    {
        return has_unit && other.has_unit && unit_name == other.unit_name &&
               unit_number == other.unit_number;
    }
};

class LaneSink
{
public:
    LaneSink() = default;
    virtual ~LaneSink() = default;
    LaneSink(const LaneSink &) = delete;
    LaneSink &operator=(const LaneSink &) = delete;

    // Lane 0 is the main one.  `parent`: the slice around it as far as it is known, or null.
    virtual void begin(size_t lane, const TimelineSlice &slice, const TimelineSlice *parent) = 0;
    virtual void end(size_t lane, const TimelineSlice &slice) = 0;
};

// A slice is known at its STOP, its children before it, but a viewer needs the BEGIN of a slice
// before those of its children.  Slices are therefore collected, and written as trees.
//
// Memory is bounded, so a slice that encloses very many others arrives when the first of these have
// been written.  Its BEGIN then comes later in the file than theirs.  Viewers sort by time, and
// only events of the same time stay in the order of the file, so this is right unless the slice
// begins in the same nanosecond as one of them; it then gets another lane, as do slices that cross.
class NestedSlices
{
public:
    static constexpr size_t kMaxLanes = 64;

    void add(const TimelineSlice &slice);
    size_t size() const { return pending_.size(); }
    // Writes the slices that no later one may enclose, without the last `keep` ones: a slice that
    // the pairer had to hold arrives late, and is put in its place among those.
    void flush(size_t keep, LaneSink &sink);
    // Slices that were not written, since more than kMaxLanes of them overlap.
    uint64_t left_out() const { return left_out_; }

private:
    static constexpr uint32_t kNone = ~uint32_t{0};

    // The trees written to the main lane whose root has a certain depth, since the last slice
    // around them.
    struct Level {
        uint64_t first_start_ns = std::numeric_limits<uint64_t>::max();
        uint64_t last_stop_ns = 0;
    };

    void link();
    size_t ready(size_t keep) const;
    bool fits(const TimelineSlice &root) const;
    void note(const TimelineSlice &root);
    void write_tree(size_t lane, uint32_t at, const TimelineSlice *parent, LaneSink &sink);
    void write_aside(uint32_t at, LaneSink &sink);
    uint64_t tree_size(uint32_t at) const;

    std::vector<TimelineSlice> pending_; // in the order of their STOPs, unless a late one came
    bool has_late_ = false;
    std::vector<uint32_t> first_child_, next_sibling_, roots_, crossed_; // places in pending_
    std::vector<Level> levels_;                                          // by depth
    std::vector<uint64_t> lane_stops_ns_;                                // of lanes 1 and on
    uint64_t left_out_ = 0;
};
} // namespace nsdump
