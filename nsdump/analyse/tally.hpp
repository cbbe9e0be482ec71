// SPDX-License-Identifier: MIT
// analyse: short slices, counted by value, until somebody wants their statistics.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/slice.hpp"

namespace nsdump
{
// What the correction of a slice depends on, besides its raw time.
struct Shape {
    ProbeCounts inside;
    std::uint32_t cpu_index = 0;
    bool is_in_unit = false;

    bool operator==(const Shape &) const = default;
};

// Slices of one shape differ in their raw time only, so counting how often each time came keeps all of them, exactly.
struct Tally {
    static constexpr std::size_t kTicks = 4096; // slices at least that long are rare in a dense trace

    Shape shape;
    ChildSums children;
    std::array<std::uint64_t, kTicks> counts; // by raw ticks
};

inline constexpr std::size_t kMaxTallies = 1024; // of a trace: 32 MiB

// The tallies of one name.
class Tallies
{
public:
    static constexpr std::size_t kMax = 32; // they are searched one by one

    // `left`: how many more the trace may have.  Null where the name or the trace has as many as are kept.
    Tally *find(const Shape &shape, std::size_t &left)
    {
        Tally *&hint = hints_[(shape.inside.pairs + 2 * shape.cpu_index + shape.is_in_unit) % hints_.size()];
        if (hint && hint->shape == shape) [[likely]]
            return hint;
        return find_slowly(shape, hint, left);
    }
    const std::vector<std::unique_ptr<Tally>> &all() const { return tallies_; }
    void clear();

private:
    Tally *find_slowly(const Shape &shape, Tally *&hint, std::size_t &left);

    std::array<Tally *, 8> hints_{};
    std::vector<std::unique_ptr<Tally>> tallies_;
};
} // namespace nsdump
