// SPDX-License-Identifier: MIT
// cycle: places in a buffer -> one random cycle of pointers through all of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrate
{
inline constexpr size_t kLineBytes = 64; // a place has at least this much for itself

struct Place {
    Place *next;
};

// The buffer is aligned to a page; places follow each other `step` bytes apart, a multiple of
// kLineBytes.  Places one page apart are moved on by a line each, since they would otherwise share
// a few sets of the cache.
struct Places {
    std::byte *buffer;
    size_t count;
    size_t step = kLineBytes;

    Place *operator[](size_t number) const
    {
        const size_t lines = step / kLineBytes;
        return reinterpret_cast<Place *>(buffer + number * step + number % lines * kLineBytes);
    }
};

// Every place is reached before the first one is reached again, in an order that no prefetcher
// predicts.
void link_cycle(const Places &places, uint64_t seed);
} // namespace calibrate
