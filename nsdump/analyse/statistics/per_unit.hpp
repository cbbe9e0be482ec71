// SPDX-License-Identifier: MIT
// analyse: net values of slices in units -> net per packet of the units, and its standard error.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "analyse/statistics/blocks.hpp"

namespace nsdump
{
// Slices of one unit are not independent of each other, nor of the number of packets in the unit.
// The values are therefore summed by unit, and the error is that of a ratio of two sums over units.
class PerUnit
{
public:
    // Makes a unit that began before the current one; false if it has to begin (again).
    [[nodiscard]] bool go_to(uint64_t serial)
    {
        return current_.serial == serial || go_back_to(serial);
    }
    // Makes another unit the current one.  `packets`: 0 if they were already counted.
    void begin(uint64_t serial, double packets)
    {
        if (place_of(serial) != place_of(current_.serial)) {
            parts_[place_of(current_.serial)] = current_;
            current_ = std::exchange(parts_[place_of(serial)], {});
        }
        flush(current_);
        current_ = {serial, packets, 0};
    }
    // To the current unit.
    void add(double value) { current_.value += value; }
    // See Blocks.
    void prefetch() const
    {
        __builtin_prefetch(&current_, 1);
        for (size_t i = 0; i < kParts; i += 2)
            __builtin_prefetch(&parts_[i], 1);
        blocks_.prefetch();
    }
    void finish()
    {
        parts_[place_of(current_.serial)] = current_;
        for (const Part &part : parts_)
            flush(part);
        parts_ = {};
        current_ = {};
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
    static size_t place_of(uint64_t serial) { return serial % kParts; }
    // False if the unit has no part.
    bool go_back_to(uint64_t serial)
    {
        Part &part = parts_[place_of(serial)];
        if (part.serial != serial)
            return false;
        parts_[place_of(current_.serial)] = current_;
        current_ = std::exchange(part, {});
        return true;
    }
    void flush(const Part &part)
    {
        if (part.serial != 0)
            blocks_.add(part.packets, part.value);
    }

    Part current_;                     // of the unit that had the last slice
    std::array<Part, kParts> parts_{}; // but for the current one
    Blocks blocks_;
};
} // namespace nsdump
