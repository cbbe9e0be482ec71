// SPDX-License-Identifier: MIT
// Quota: a limit of one client, or of all clients of one user.
#include "engine/memory/quota.hpp"

namespace mapi::engine
{
bool Quota::take(uint64_t amount)
{
    if (!take_own(amount))
        return false;
    if (!parent_ || parent_->take(amount))
        return true;
    used_.fetch_sub(amount, std::memory_order_relaxed);
    return false;
}

bool Quota::take_own(uint64_t amount)
{
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
        if (amount > most_ - used)
            return false;
    } while (!used_.compare_exchange_weak(used, used + amount, std::memory_order_relaxed));
    return true;
}

void Quota::give_back(uint64_t amount)
{
    used_.fetch_sub(amount, std::memory_order_relaxed);
    if (parent_)
        parent_->give_back(amount);
}

const Quota &Quota::short_of(uint64_t amount) const
{
    return !parent_ || amount > most_ - used() ? *this : parent_->short_of(amount);
}
} // namespace mapi::engine
