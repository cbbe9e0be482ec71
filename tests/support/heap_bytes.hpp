// SPDX-License-Identifier: MIT
// Heap bytes: what this process holds of malloc's memory, with what malloc adds to each piece.  Where a sanitizer has taken malloc's place
// nobody tells: cases that need it are not there then.
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEAP_BYTES_ARE_TOLD

#include <cstdint>

#include <malloc.h>

#include "support/catch.hpp"

inline uint64_t heap_bytes()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// What was taken since, against what the taker says: not more, and not much less.
inline void check_heap_growth(uint64_t before, uint64_t told)
{
    const uint64_t grown = heap_bytes() - before;
    CHECK(grown <= told);
    CHECK(grown > told / 3);
}
#endif
