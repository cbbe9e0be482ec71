// SPDX-License-Identifier: MIT
// analyse: slices of a trace with very many names -> collected in rows by name, then counted by value.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/slice.hpp"
#include "analyse/tally.hpp"

namespace nsdump
{
// What the time statistics need of a slice, where all of it is small.
struct BatchedSlice {
    std::uint64_t unit_serial; // 0: in none
    std::uint32_t raw_ticks;
    std::uint32_t child_ticks;
    std::uint32_t packets; // of the unit, in its first slice of this name
    std::uint16_t cpu_index;
    std::uint16_t children;
    std::uint16_t ends, marks, ends_in_children, marks_in_children;
    std::uint8_t inits, exits, inits_in_children, exits_in_children;
    bool is_interrupted;

    static constexpr std::int64_t kTicks = 1 << 24; // a slice of batches is shorter
    static bool fits(const Slice &slice)
    {
        const auto is_count = [](std::uint64_t value) { return value < 1u << 16; };
        const ProbeCounts &inside = slice.inside; // no less than in_children
        return slice.raw_ticks >= 0 && slice.raw_ticks < kTicks && slice.child_ticks >= 0 && slice.child_ticks < kTicks &&
               is_count(slice.cpu_index) && is_count(slice.children) && is_count(inside.ends) && is_count(inside.marks) && inside.inits < 256 &&
               inside.exits < 256 && (!slice.unit || slice.unit->packets < 1u << 31);
    }
    ProbeCounts inside() const { return {ends, marks, inits, exits}; }
    Shape shape() const { return {inside(), cpu_index, unit_serial != 0, children > 0}; }
    ProbeCounts in_children() const { return {ends_in_children, marks_in_children, inits_in_children, exits_in_children}; }
};

// Of very many names none is in the cache when its next slice comes.  Here a slice is only written, which nothing waits for, and its
// name's statistics are looked up once for many of them.
class Batches
{
public:
    static constexpr std::size_t kSlices = 24;

    // The place of the name's next slice.  Its row is to be read and cleared when it is full.
    BatchedSlice &append(NameId name)
    {
        if (name >= counts_.size()) [[unlikely]]
            grow(name);
        return slices_[name * kSlices + counts_[name]++];
    }
    bool is_full(NameId name) const { return counts_[name] == kSlices; }
    std::size_t count(NameId name) const { return name < counts_.size() ? counts_[name] : 0; }
    const BatchedSlice *row(NameId name) const { return &slices_[name * kSlices]; }
    void clear(NameId name) { counts_[name] = 0; }

private:
    void grow(NameId name)
    {
        counts_.resize(name + 256);
        slices_.resize(counts_.size() * kSlices);
    }

    std::vector<std::uint8_t> counts_; // by name
    std::vector<BatchedSlice> slices_;
};

// How often each raw time came, for each shape: as Tally, in a tenth of the memory.
class ValueCounts
{
public:
    static constexpr std::size_t kMaxShapes = 255;

    struct Slot {
        std::uint32_t key = 0;   // place of the shape in the last 8 bits, ticks above
        std::uint32_t count = 0; // 0: free
    };

    // What add() needs, and its memory on the way to the cache.  kNoKey when there is no room: all is to be read and cleared first.
    static constexpr std::uint32_t kNoKey = ~std::uint32_t{0};
    std::uint32_t key_of(const Shape &shape, std::uint32_t ticks)
    {
        if (last_ >= shapes_.size() || !(shapes_[last_] == shape)) {
            const std::size_t place = place_of(shape);
            if (place == kMaxShapes)
                return kNoKey;
            last_ = place;
        }
        const std::uint32_t key = ticks << 8 | static_cast<std::uint32_t>(last_);
        if (!slots_.empty())
            __builtin_prefetch(&slots_[(key * 2654435761u >> 12) & (slots_.size() - 1)], 1);
        return key;
    }
    // False when there is no room, as above.
    bool add(std::uint32_t key)
    {
        if (4 * used_ >= 3 * slots_.size()) [[unlikely]]
            if (!grow())
                return false;
        Slot &slot = find(key);
        if (slot.count == ~std::uint32_t{0}) [[unlikely]]
            return false;
        used_ += slot.count == 0;
        slot.key = key;
        ++slot.count;
        return true;
    }
    template <class Each> void each(Each each) const
    {
        for (const Slot &slot : slots_)
            if (slot.count > 0)
                each(shapes_[slot.key & 0xff], slot.key >> 8, slot.count);
    }
    void clear();

private:
    static constexpr std::size_t kMaxSlots = 1024;

    std::size_t place_of(const Shape &shape);
    Slot &find(std::uint32_t key)
    {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (key * 2654435761u >> 12) & mask;
        while (slots_[at].count > 0 && slots_[at].key != key)
            at = (at + 1) & mask;
        return slots_[at];
    }
    bool grow();

    std::vector<Slot> slots_; // as many as a power of two
    std::size_t used_ = 0;
    std::vector<Shape> shapes_;
    std::size_t last_ = 0;
};
} // namespace nsdump
