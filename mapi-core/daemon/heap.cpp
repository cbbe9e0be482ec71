// SPDX-License-Identifier: MIT
// Heap: what clients left of it goes back to the system.  By glibc; other C libraries keep less by themselves.
#include "daemon/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mapi::daemon
{
namespace
{
constexpr auto kDelay = std::chrono::milliseconds(500);
#ifdef __GLIBC__
constexpr int kArenasLeast = 4;
constexpr int kMappingBytes = 256 << 10; // from here on an allocation is a mapping; fixed, where glibc raises it to 32 MiB by itself
#endif
} // namespace

void keep_heap_small()
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, std::max(kArenasLeast, int(std::thread::hardware_concurrency())));
    mallopt(M_MMAP_THRESHOLD, kMappingBytes);
#endif
}

void HeapTrim::want()
{
    if (!due_)
        due_ = Clock::now() + kDelay;
}

int HeapTrim::timeout_ms() const
{
    return due_ ? std::max(0, int(std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now()).count())) : -1;
}

void HeapTrim::trim_when_due()
{
    if (!due_ || Clock::now() < *due_)
        return;
    due_.reset();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
} // namespace mapi::daemon
