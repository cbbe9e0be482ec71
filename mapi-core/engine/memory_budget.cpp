// SPDX-License-Identifier: MIT
// Memory budget: bytes that the functions of one client may hold at most.
#include "engine/memory_budget.hpp"

namespace mapi::engine
{
bool MemoryBudget::take(uint64_t bytes)
{
    uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > most_bytes_ - used)
            return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
}
} // namespace mapi::engine
