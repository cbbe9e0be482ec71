// SPDX-License-Identifier: MIT
// Heap bytes: what this process holds of malloc's memory, with what malloc adds to each piece.
#pragma once

#include <cstdint>

#include <malloc.h>

#include "support/catch.hpp"
#include "support/requires.hpp"

// 0 under sanitizers, whose malloc does not tell.
inline uint64_t heap_bytes()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// What was taken since, against what the taker says: not more, and not much less.
inline void check_heap_growth(uint64_t before, uint64_t told)
{
    const uint64_t grown = heap_bytes() - before;
    if (heap_bytes() == 0)
        return test_support::skip("this malloc does not tell what it gave");
    CHECK(grown <= told);
    CHECK(grown > told / 3);
}
