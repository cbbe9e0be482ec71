// SPDX-License-Identifier: MIT
// Heap: memory that clients have freed -> the system.  With glibc only; other C libraries keep less
// memory.
#include "daemon/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mapi::daemon
{
#ifdef __GLIBC__
namespace
{
constexpr int kArenasLeast = 4;
// larger allocations are mappings; fixed, because glibc would raise the threshold up to 32 MiB
constexpr int kMappingBytes = 256 << 10;
} // namespace
#endif

void keep_heap_small()
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, std::max(kArenasLeast, int(std::thread::hardware_concurrency())));
    mallopt(M_MMAP_THRESHOLD, kMappingBytes);
    // otherwise small blocks are only merged with the free end of their arena in malloc_trim(),
    // which returns only that of the main arena
    mallopt(M_MXFAST, 0);
#endif
}

void give_heap_back()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
} // namespace mapi::daemon
