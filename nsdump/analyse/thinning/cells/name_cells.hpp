// SPDX-License-Identifier: MIT
// analyse: the slices of one name, in cells by what was off.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyse/thinning/cells/cell.hpp"
#include "analyse/thinning/epoch_table.hpp"
#include "analyse/thinning/result.hpp"

namespace nsdump
{
// A slice with nothing inside.
struct BareSlice {
    static constexpr unsigned kTickBits = 28, kEpochBits = 24, kCpuBits = 12;

    uint64_t ticks : kTickBits;
    uint64_t epoch : kEpochBits;
    uint64_t cpu_index : kCpuBits;

    static bool fits(const ThinnedSlice &slice)
    {
        return slice.raw < 1u << kTickBits && slice.epoch < 1u << kEpochBits &&
               slice.cpu_index < 1u << kCpuBits && slice.inside.empty() &&
               (slice.inits | slice.exits) == 0;
    }
};

// The slices of one name with all probes on.
struct AllOn {
    uint64_t count;
    InsideSums inside;
};

// The slices of one name.
struct NameCells {
    static constexpr size_t kMaxInside = 256; // different names inside slices of one name
    static constexpr size_t kMaxBare = 128;
    static constexpr size_t kBareBytes = kMaxBare * sizeof(BareSlice);

    double reference = 0; // a typical raw value
    // Over all slices that nest and lie in one epoch, whether they were accepted or not.
    uint64_t nested = 0;
    std::vector<CpuSum> cpus;
    uint64_t accepted = 0;
    bool has_others = false; // slices that do not go into `bare`, and thus none do any more
    // Not yet in cells.
    std::vector<BareSlice> bare;
    InsideSums inside; // at most kMaxInside names; over the same slices as `nested`
    std::vector<std::unique_ptr<Cell>> cells; // by set of EpochTable; null: no slices in that set
    std::unique_ptr<AllOn> all_on;            // after drop_cells(), if anything is inside
    LeftOutCounts left_out{};

    // Prefetches what a slice needs, first the parts that point to the rest.
    void prefetch() const
    {
        __builtin_prefetch(&nested, 1);
        __builtin_prefetch(&bare, 1);
        __builtin_prefetch(&inside);
    }
    void prefetch_rest() const
    {
        __builtin_prefetch(cpus.data(), 1);
        __builtin_prefetch(bare.data() + bare.size(), 1);
    }
    bool takes_bare(const ThinnedSlice &slice) const
    {
        return !has_others && BareSlice::fits(slice);
    }
    // True if `bare` is full: the caller must empty it.
    bool add_bare(const ThinnedSlice &slice)
    {
        if (bare.capacity() == 0)
            bare.reserve(kMaxBare / 8);
        bare.push_back({uint64_t(slice.raw), slice.epoch, slice.cpu_index});
        return bare.size() == kMaxBare;
    }
    void add_to_cell(const ThinnedSlice &slice, const EpochTable &epochs, double step);
    void add_to_cells(std::span<const BareSlice> slices, const EpochTable &epochs, double step);
    void finish_cells();
    // Frees the finished cells.
    void drop_cells();

private:
    Cell &cell_at(uint32_t set, double step);
};
} // namespace nsdump
