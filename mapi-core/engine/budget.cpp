// SPDX-License-Identifier: MIT
// Budget: so much of something for one client.
#include "engine/budget.hpp"

namespace mapi::engine
{
bool Budget::take(uint64_t amount)
{
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
        if (amount > most_ - used)
            return false;
    } while (!used_.compare_exchange_weak(used, used + amount, std::memory_order_relaxed));
    return true;
}
} // namespace mapi::engine
