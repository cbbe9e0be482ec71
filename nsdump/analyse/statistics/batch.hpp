// SPDX-License-Identifier: MIT
// analyse: slices of a trace with very many names -> rows by name, then counts by value.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/pair/slice.hpp"
#include "analyse/statistics/batch_shapes.hpp"
#include "analyse/statistics/value_counts.hpp"

namespace nsdump
{
// The data of a slice that time statistics need, four to a cache line.  A slice whose times do not
// fit takes two places, the second one for the times.
class BatchedSlice
{
public:
    static bool fits(const Slice &slice)
    {
        return (!slice.unit || (slice.unit->packets >> 31 | slice.unit->serial >> 32) == 0) &&
               BatchShapes::fits(slice);
    }
    static bool is_short(const Slice &slice)
    {
        return uint64_t(slice.raw_ticks | slice.child_ticks) >> kTickBits == 0;
    }
    BatchedSlice() = default;
    // Padding at the end of a row.
    static BatchedSlice nothing()
    {
        return BatchedSlice(Words{kNoShort << kTickBits | kNothing, 0});
    }
    // The first place of a slice with times of any size; times() is the second one.
    static BatchedSlice long_one(const Slice &slice, size_t shape, bool is_first)
    {
        return BatchedSlice(Words{kNoShort << kTickBits | shape, second_word(slice, is_first)});
    }
    static BatchedSlice times(const Slice &slice)
    {
        return BatchedSlice(Words{uint64_t(slice.raw_ticks), uint64_t(slice.child_ticks)});
    }
    // `is_first`: the first slice of its name in its unit.
    BatchedSlice(const Slice &slice, size_t shape, bool is_first)
        : words_{uint64_t(slice.raw_ticks) << (kTickBits + kShapeBits) | shape << kTickBits |
                     uint64_t(slice.child_ticks),
                 second_word(slice, is_first)}
    {
    }

    bool is_nothing() const { return words_[0] == (kNoShort << kTickBits | kNothing); }
    bool is_long() const { return shape() == kNoShort; }
    size_t long_shape() const { return child_ticks(); }
    // Only for the second place.
    int64_t long_raw_ticks() const { return int64_t(words_[0]); }
    int64_t long_child_ticks() const { return int64_t(words_[1]); }

    uint32_t raw_ticks() const { return uint32_t(words_[0] >> (kTickBits + kShapeBits)); }
    uint32_t child_ticks() const { return words_[0] & ((1u << kTickBits) - 1); }
    size_t shape() const { return words_[0] >> kTickBits & ((1u << kShapeBits) - 1); }
    uint32_t unit_serial() const { return uint32_t(words_[1]); } // 0: not in a unit
    uint32_t packets() const
    {
        return uint32_t(words_[1] >> 32) & ~kInterrupted;
    } // of the unit; only in the first slice of the name
    bool is_interrupted() const { return words_[1] >> kInterruptedBit != 0; }

private:
    static constexpr unsigned kTickBits = ValueCounts::kTickBits,
                              kShapeBits = ValueCounts::kShapeBits;
    static constexpr unsigned kInterruptedBit = 63;
    static constexpr uint32_t kInterrupted = 1u << (kInterruptedBit - 32);

    // Written as a whole, since it is soon read as a whole: see ProbeCounts.
    typedef uint64_t Words __attribute__((vector_size(16)));

    static constexpr uint64_t kNoShort = BatchShapes::kMax, kNothing = (1u << kTickBits) - 1;

    explicit BatchedSlice(Words words) : words_(words) {}
    static uint64_t second_word(const Slice &slice, bool is_first)
    {
        return (slice.unit ? slice.unit->serial | (is_first ? slice.unit->packets << 32 : 0) : 0) |
               uint64_t{slice.is_interrupted} << kInterruptedBit;
    }
    static_assert(2 * kTickBits + kShapeBits == 64 && BatchShapes::kMax < 1u << kShapeBits);

    Words words_; // raw ticks, shape, child ticks; unit's serial, its packets, is_interrupted
};

// With very many names, the statistics of a name are not in the cache when its next slice arrives.
// Here a slice is only appended to the previous ones of its name, and the statistics of the name
// are accessed once for many slices.  Slices are first written to a cache line of their name: the
// lines of all names are close together, in a few pages, and only full lines are copied to the
// name's row.
class Batches
{
public:
    static constexpr size_t kSlices = 256;   // in a row
    static constexpr size_t kFewSlices = 64; // in a quarter of the memory
    static constexpr size_t kRun = 128;      // added to the statistics at a time, or a row

    // `slices` in a row: a power of two.
    explicit Batches(size_t slices = kSlices)
        : slices_(slices), block_bits_(unsigned(std::countr_zero(kBlockSlices / slices)))
    {
    }

    size_t slices() const { return slices_; }
    size_t count(NameId name) const { return name < counts_.size() ? counts_[name] : 0; }
    // The caller reads and clears the row when it is full.
    void append(NameId name, const BatchedSlice &slice)
    {
        if (name >= counts_.size()) [[unlikely]]
            grow(name);
        Line &line = lines_[name];
        const size_t count = counts_[name]++;
        line[count % kLineSlices] = slice;
        if (count % kLineSlices == kLineSlices - 1)
            line.copy_past_cache(row_of(name) + (count - (kLineSlices - 1)));
    }
    // Prefetches the place of the name's next slice.
    void prefetch(NameId name) const
    {
        if (name < counts_.size()) [[likely]]
            __builtin_prefetch(&lines_[name], 1);
    }
    void prefetch_row(NameId name) const
    {
        for (size_t i = 0; i < slices_; i += kLineSlices)
            __builtin_prefetch(row_of(name) + i);
    }
    const BatchedSlice *row(NameId name)
    {
        const size_t count = counts_[name], rest = count % kLineSlices;
        std::copy_n(lines_[name].begin(), rest, row_of(name) + (count - rest));
        return row_of(name);
    }
    void clear(NameId name) { counts_[name] = 0; }

private:
    static constexpr size_t kBlockBytes = 2 << 20; // a huge page: writes to rows are scattered
    static constexpr size_t kBlockSlices = kBlockBytes / sizeof(BatchedSlice);

    static constexpr size_t kLineSlices = 64 / sizeof(BatchedSlice);

    struct alignas(64) Line : std::array<BatchedSlice, kLineSlices> {
        void copy_past_cache(BatchedSlice *to) const;
    };
    struct alignas(kBlockBytes) Block : std::array<BatchedSlice, kBlockSlices> {
    };

    BatchedSlice *row_of(NameId name) const
    {
        const size_t in_block = name & ((size_t{1} << block_bits_) - 1);
        return blocks_[name >> block_bits_]->data() + in_block * slices_;
    }
    void grow(NameId name);

    size_t slices_;
    unsigned block_bits_;          // of the number of rows in a block
    std::vector<uint16_t> counts_; // by name
    std::vector<Line> lines_;      // by name
    std::vector<std::unique_ptr<Block>> blocks_;
};

// Non-temporal: the line is not read until the whole row is, so it need not be fetched before it is
// overwritten.
inline void Batches::Line::copy_past_cache(BatchedSlice *to) const
{
#ifdef __SSE2__
    for (size_t i = 0; i < kLineSlices; ++i)
        _mm_stream_si128(reinterpret_cast<__m128i *>(to + i),
                         _mm_load_si128(reinterpret_cast<const __m128i *>(data() + i)));
#else
    std::copy_n(begin(), kLineSlices, to);
#endif
}
} // namespace nsdump
