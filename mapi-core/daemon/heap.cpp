// SPDX-License-Identifier: MIT
// Heap: memory that clients have freed -> the system.  By glibc; other C libraries keep less by themselves.
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
constexpr int kMappingBytes = 256 << 10; // from here on an allocation is a mapping; fixed, where glibc raises it to 32 MiB by itself
} // namespace
#endif

void keep_heap_small()
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, std::max(kArenasLeast, int(std::thread::hardware_concurrency())));
    mallopt(M_MMAP_THRESHOLD, kMappingBytes);
    mallopt(M_MXFAST, 0); // else small pieces join the free end of their arena only in malloc_trim(), which gives back that of the main arena alone
#endif
}

void give_heap_back()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
} // namespace mapi::daemon
