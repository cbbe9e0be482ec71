// SPDX-License-Identifier: MIT
// Heap bytes: what this process holds of malloc's memory, with what malloc adds to each piece.
#pragma once

#include <cstdint>

#include <malloc.h>

// 0 under sanitizers, whose malloc does not tell.
inline uint64_t heap_bytes()
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
