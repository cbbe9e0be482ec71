// SPDX-License-Identifier: MIT
// Flow drops: drops of the functions of one client's flows on one device.
#include "engine/flow_drops.hpp"

#include "engine/packet_path/chain.hpp"

namespace mapi::engine
{
void FlowDrops::add(const Chain &chain)
{
    const std::lock_guard lock(mutex_);
    chains_.insert(&chain);
}

void FlowDrops::remove(const Chain &chain)
{
    const std::lock_guard lock(mutex_);
    chains_.erase(&chain);
    add_up(gone_, chain.drops());
}

mapi_function_drops FlowDrops::sum()
{
    const std::lock_guard lock(mutex_);
    mapi_function_drops sum = gone_;
    for (const Chain *chain : chains_)
        add_up(sum, chain->drops());
    return sum;
}
} // namespace mapi::engine
