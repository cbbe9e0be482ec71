// SPDX-License-Identifier: MIT
// analyse: raw times -> how often each occurred, by shape; like Tally, in a tenth of the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nsdump
{
// Similar times are counted next to each other, so that many slices use few cache lines.
class ValueCounts
{
public:
    static constexpr unsigned kTickBits = 24, kShapeBits = 16;

    size_t bytes() const
    {
        return index_.capacity() * sizeof(uint64_t) + lines_.capacity() * sizeof(Line);
    }
    // Prefetches everything.
    void prefetch() const
    {
        for (size_t i = 0; i < index_.size(); i += 64 / sizeof(uint64_t))
            __builtin_prefetch(&index_[i]);
        for (const Line &line : lines_)
            __builtin_prefetch(&line, 1);
    }
    // False if there is no room: the caller must then read and clear everything first.
    bool add(size_t shape, uint32_t ticks)
    {
        const uint64_t key = uint64_t{shape} << (kTickBits - kLineBits) | ticks >> kLineBits;
        const size_t line = line_of(key);
        if (line == kMaxLines) [[unlikely]]
            return false;
        uint16_t &count = lines_[line][ticks % kLineTicks];
        if (count == UINT16_MAX) [[unlikely]]
            return false;
        ++count;
        return true;
    }
    // each(shape, ticks, count)
    template <class Each> void each(Each each) const
    {
        for (const uint64_t entry : index_) {
            if (entry == 0)
                continue;
            const uint64_t key = entry >> kNumberBits;
            const Line &line = lines_[(entry & kNumberMask) - 1];
            const auto first = uint32_t(key << kLineBits & ((1u << kTickBits) - 1));
            for (uint32_t i = 0; i < kLineTicks; ++i)
                if (line[i] > 0)
                    each(key >> (kTickBits - kLineBits), first + i, line[i]);
        }
    }
    void clear();

private:
    static constexpr unsigned kLineBits = 5, kNumberBits = 8;
    static constexpr size_t kLineTicks = 1u << kLineBits;
    static constexpr uint64_t kNumberMask = (1u << kNumberBits) - 1;
    static constexpr size_t kMinIndex = 16, kMaxLines = 64;

    struct alignas(64) Line : std::array<uint16_t, kLineTicks> {
    };

    size_t line_of(uint64_t key)
    {
        if (!index_.empty()) [[likely]] {
            const size_t mask = index_.size() - 1;
            for (size_t at = place_of(key); index_[at] != 0; at = (at + 1) & mask)
                if (index_[at] >> kNumberBits == key)
                    return (index_[at] & kNumberMask) - 1;
        }
        return add_line(key);
    }
    size_t place_of(uint64_t key) const
    {
        return (key * 0x9e3779b97f4a7c15u >> 40) & (index_.size() - 1);
    }
    size_t add_line(uint64_t key);
    void enter(uint64_t entry);

    std::vector<uint64_t> index_; // key | line number from 1; 0: free; size is a power of two
    std::vector<Line> lines_;
};
} // namespace nsdump
