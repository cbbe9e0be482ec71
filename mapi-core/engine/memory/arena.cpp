// SPDX-License-Identifier: MIT
// Arena: the implementation on the heap.
#include "engine/memory/arena.hpp"

#include <cstring>

#include <sys/mman.h>

namespace mapi::engine
{
namespace
{
constexpr size_t kAlign = 64;
constexpr size_t kPagesFrom = 131072; // from this size on, only pages that are used take memory
} // namespace

void *HeapArena::allocate(Side, size_t bytes)
{
    if (bytes >= kPagesFrom) {
        void *pages =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return pages == MAP_FAILED ? nullptr : pages;
    }
    void *memory = operator new(bytes, std::align_val_t(kAlign), std::nothrow);
    return memory ? memset(memory, 0, bytes) : nullptr;
}

void HeapArena::release(Side, void *memory, size_t bytes)
{
    if (bytes >= kPagesFrom)
        munmap(memory, bytes);
    else
        operator delete(memory, std::align_val_t(kAlign));
}
} // namespace mapi::engine
