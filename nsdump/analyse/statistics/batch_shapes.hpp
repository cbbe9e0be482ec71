// SPDX-License-Identifier: MIT
// analyse: contents of slices -> small numbers shared by all names, and the amount to subtract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/pair/slice.hpp"
#include "analyse/statistics/tally.hpp"

namespace nsdump
{
struct BatchShape {
    Shape shape;
    ProbeCounts in_children;
    uint32_t children = 0;
    double subtracted = 0;      // from raw
    double self_subtracted = 0; // from raw minus the raw of the slices inside
};

// A slice whose contents do not fit in a key is rare, since every slice inside it is counted as
// well.
class BatchShapes
{
public:
    static constexpr size_t kMax = (1 << 16) - 1; // has a special meaning in BatchedSlice

    explicit BatchShapes(const Correction &correction) : correction_(correction), slots_(kMinSlots)
    {
    }

    static bool fits(const Slice &slice)
    {
        constexpr uint32_t kEnds = (1u << kEndBits) - 1, kUnits = (1u << kUnitBits) - 1;
        return anything_in(slice).is_within({kEnds, kEnds, kUnits, kUnits}) &&
               (slice.children >> kEndBits | slice.cpu_index >> kCpuBits) == 0 &&
               !slice.programs.any();
    }
    // Number of the shape of a slice that fits; kMax if there is no room for another shape.
    size_t id_of(const Slice &slice)
    {
        if (slice.children == 0 && anything_in(slice).is_within({})) { // most slices
            const size_t leaf = leaf_of(slice);
            if (leaf < leaves_.size() && leaves_[leaf] != 0) [[likely]]
                return leaves_[leaf] - 1;
        }
        const uint64_t key = key_of(slice);
        const Slot &slot = slots_[place_of(key)];
        return slot.key == key && slot.id_and_one != 0 ? slot.id_and_one - 1
                                                       : find_slowly(key, slice);
    }
    const BatchShape &operator[](size_t id) const { return shapes_[id]; }

private:
    static constexpr unsigned kEndBits = 8, kUnitBits = 2, kCpuBits = 15;
    static constexpr size_t kMinSlots = 256;

    struct Slot {
        uint64_t key = 0;
        size_t id_and_one = 0; // 0: free
    };

    static ProbeCounts anything_in(const Slice &slice)
    {
        ProbeCounts counts = slice.inside;
        return counts |= slice.in_children;
    }
    static size_t leaf_of(const Slice &slice)
    {
        return 2 * size_t{slice.cpu_index} + (slice.unit != nullptr);
    }
    static uint64_t bits_of(const ProbeCounts &counts)
    {
        return counts.ends | uint64_t{counts.marks} << 8 | uint64_t{counts.inits} << 16 |
               uint64_t{counts.exits} << 18;
    }
    static uint64_t key_of(const Slice &slice)
    {
        return bits_of(slice.inside) | bits_of(slice.in_children) << 20 |
               uint64_t{slice.children} << 40 | uint64_t{slice.unit != nullptr} << 48 |
               uint64_t{slice.cpu_index} << 49;
    }
    size_t place_of(uint64_t key) const
    {
        return ((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 40) & (slots_.size() - 1);
    }
    Slot &find(uint64_t key);
    void note_leaf(const Slice &slice);
    size_t find_slowly(uint64_t key, const Slice &slice);
    void grow();

    const Correction &correction_;
    std::vector<Slot> slots_; // size is a power of two
    std::vector<BatchShape> shapes_;
    std::vector<uint32_t> leaves_; // id + 1 of childless shapes, by leaf_of(); 0: none
};
} // namespace nsdump
