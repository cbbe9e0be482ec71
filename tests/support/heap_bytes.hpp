// SPDX-License-Identifier: MIT
// Heap bytes: the memory that this process has from malloc, including malloc's overhead. Sanitizers
// replace malloc and do not report it: test cases that need it are then left out.
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEAP_BYTES_ARE_REPORTED

#include <cstdint>

#include <malloc.h>

#include "support/catch.hpp"

inline uint64_t heap_bytes()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Growth since `before`, compared with the reported size: not more, and not much less.
inline void check_heap_growth(uint64_t before, uint64_t reported)
{
    const uint64_t grown = heap_bytes() - before;
    CHECK(grown <= reported);
    CHECK(grown > reported / 3);
}
#endif
