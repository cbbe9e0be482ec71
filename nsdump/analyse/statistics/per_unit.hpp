// SPDX-License-Identifier: MIT
// analyse: net values of slices in units -> net per packet of the units, and its standard error.
#pragma once

#include <array>
#include <cstdint>

#include "analyse/statistics/blocks.hpp"

namespace nsdump
{
// Slices of one unit are not independent of each other, nor of the number of packets in the unit.
// The values are therefore summed by unit, and the error is that of a ratio of two sums over units.
class PerUnit
{
public:
    bool has(uint64_t serial) const { return parts_[serial % kParts].serial == serial; }
    // `packets`: 0 if the unit's packets were already counted.
    void begin(uint64_t serial, double packets)
    {
        Part &part = parts_[serial % kParts];
        flush(part);
        part = {serial, packets, 0};
    }
    void add(uint64_t serial, double value) { parts_[serial % kParts].value += value; }
    // See Blocks.
    void prefetch() const
    {
        for (size_t i = 0; i < kParts; i += 2)
            __builtin_prefetch(&parts_[i], 1);
        blocks_.prefetch();
    }
    void prefetch_block() const { blocks_.prefetch_block(); }
    void finish()
    {
        for (Part &part : parts_)
            flush(part);
        parts_ = {};
    }
    // Both must be finished; no unit may be added afterwards.
    void merge(const PerUnit &other) { blocks_.merge(other.blocks_); }

    // Blocks of units in the order in which they ended; their standard error is that of net per
    // packet.
    const Blocks &blocks() const { return blocks_; }

private:
    // Threads whose units are open at the same time use different parts.  With more threads than
    // parts some units are split in two, which overestimates the error.
    static constexpr size_t kParts = 8;

    struct Part {
        uint64_t serial = 0; // 0: none
        double packets = 0;
        double value = 0;
    };
    void flush(const Part &part)
    {
        if (part.serial != 0)
            blocks_.add(part.packets, part.value);
    }

    std::array<Part, kParts> parts_{};
    Blocks blocks_;
};
} // namespace nsdump
