// SPDX-License-Identifier: MIT
// analyse: short slices -> counts by value, until their statistics are needed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/pair/slice.hpp"

namespace nsdump
{
// Everything that the correction of a slice depends on except its raw time.
struct Shape {
    ProbeCounts inside;
    uint32_t cpu_index = 0;
    bool is_in_unit = false;
    bool has_children = false;   // if so, its self value differs from its net value
    ProgramCounts programs = {}; // as of Slice; also below

    bool operator==(const Shape &) const = default;
};

// Self values of consecutive slices with the same number of slices and probes inside.
struct SelfRun {
    uint32_t children = 0;
    ProgramCounts programs_in_children = {};
    ProbeCounts in_children;
    double subtracted = 0; // from raw minus the raw of the slices inside
    double first = 0;
    uint64_t count = 0;   // 0: none yet
    double distances = 0; // sum of distances from the first; below, of their squares
    double distance_squares = 0;
    bool has_only_leaves = false; // inside its slices

    // In doubles, since the difference may overflow an integer in a hostile trace.
    template <class AnySlice> static double raw_self(const AnySlice &slice)
    {
        return double(slice.raw_ticks) - double(slice.child_ticks);
    }
    bool is_of(const Slice &slice) const
    {
        return count > 0 && children == slice.children && in_children == slice.in_children &&
               programs_in_children == slice.programs_in_children;
    }
    bool is_of(const PlainSlice &slice) const
    {
        return count > 0 && children == slice.children && in_children == slice.in_children &&
               !programs_in_children.any();
    }
    bool is_of(const LeavesSlice &slice) const
    {
        return has_only_leaves && children == slice.leaves;
    }
    void add(const LeavesSlice &slice)
    {
        add(double(slice.raw_ticks) - double(slice.leaf_ticks) - subtracted);
    }
    template <class AnySlice> void add(const AnySlice &slice) { add(raw_self(slice) - subtracted); }
    void add(double self)
    {
        const double distance = self - first;
        ++count;
        distances += distance;
        distance_squares += distance * distance;
    }
};

// Slices of one shape differ only in their raw time, so counting how often each time occurs
// represents all of them exactly.
struct Tally {
    static constexpr size_t kTicks = 4096; // longer slices are rare in a dense trace

    Shape shape;
    double subtracted = 0;               // by the correction, from each slice
    SelfRun self;                        // the last run of slices with slices inside
    std::array<uint64_t, kTicks> counts; // by raw ticks
};

inline constexpr size_t kMaxTallies = 1024; // per trace: 32 MiB

// The tallies of one name.
class Tallies
{
public:
    static constexpr size_t kMax = 32; // small, since the search is linear

    // `left`: how many more the trace may have.  Returns null if the name or the trace has reached
    // its limit.  `subtracted`: computes Tally::subtracted for a new shape.
    template <class Subtracted> Tally *find(const Shape &shape, size_t &left, Subtracted subtracted)
    {
        Tally *&hint = hints_[hint_of(shape)];
        if (hint && hint->shape == shape) [[likely]]
            return hint;
        const size_t known = tallies_.size();
        Tally *const found = find_slowly(shape, hint, left);
        if (tallies_.size() > known)
            found->subtracted = subtracted();
        return found;
    }
    // The same if it was the last one of several that resemble it; otherwise null.
    Tally *guess(const Shape &shape) const
    {
        Tally *const hint = hints_[hint_of(shape)];
        return hint && hint->shape == shape ? hint : nullptr;
    }
    const std::vector<std::unique_ptr<Tally>> &all() const { return tallies_; }
    void clear();

private:
    static constexpr size_t kHints = 8;

    static size_t hint_of(const Shape &shape)
    {
        return (shape.inside.ends / 2 + 2 * shape.cpu_index + shape.is_in_unit) % kHints;
    }
    Tally *find_slowly(const Shape &shape, Tally *&hint, size_t &left);

    std::array<Tally *, kHints> hints_{};
    std::vector<std::unique_ptr<Tally>> tallies_;
};
} // namespace nsdump
