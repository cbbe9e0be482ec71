// SPDX-License-Identifier: MIT
// The numbers of states -> slots, each used by some programs.
#include "drivers/xdp/state_slots.hpp"

namespace mapi::drivers::xdp
{
StateSlots::StateSlots() : memory_("mapi_states", size_t{kSlots} * kStrideBytes)
{
    for (uint32_t number = kSlots; number > 0; --number)
        free_.push_back(number - 1);
}

uint64_t *StateSlots::word(uint32_t number) const
{
    return memory_.words().data() + size_t{number} * kStrideBytes / sizeof(uint64_t);
}

StateSlots::Lease StateSlots::lease(uint64_t state)
{
    const std::lock_guard lock(mutex_);
    if (const auto known = slots_.find(state); known != slots_.end()) {
        if (Lease slot = known->second.lock())
            return slot;
    }
    std::erase_if(slots_, [](const auto &known) { return known.second.expired(); });
    if (free_.empty())
        return nullptr;
    auto &entry = slots_[state]; // first: a slot that could not be kept would be given back here
    const uint32_t number = free_.back();
    Lease slot = std::make_shared<const Slot>(*this, number);
    free_.pop_back();
    __atomic_store_n(word(number), 0, __ATOMIC_RELAXED);
    entry = slot;
    return slot;
}

void StateSlots::give_back(uint32_t number)
{
    const std::lock_guard lock(mutex_);
    free_.push_back(number); // has room: it had all slots at first
}
} // namespace mapi::drivers::xdp
