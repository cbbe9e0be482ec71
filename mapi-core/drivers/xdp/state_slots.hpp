// SPDX-License-Identifier: MIT
// Words in a map that outlive programs: what samples have counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "drivers/xdp/kernel_object.hpp"

namespace mapi::drivers::xdp
{
// Programs with the same state share its slot; it is free when none of them is left.
class StateSlots
{
public:
    class Slot;
    using Lease = std::shared_ptr<const Slot>;

    // Throws KernelRefusal.
    StateSlots();
    StateSlots(const StateSlots &) = delete;
    StateSlots &operator=(const StateSlots &) = delete;

    int descriptor() const { return memory_.descriptor(); }
    // Any thread, as the end of a lease; `state` is a number as in mapi_offload_node.  A slot for a
    // new state begins at 0.  Null: there is no free slot.
    Lease lease(uint64_t state);

    class Slot
    {
    public:
        Slot(StateSlots &owner, uint32_t number) : owner_(owner), number_(number) {}
        ~Slot() { owner_.give_back(number_); }
        Slot(const Slot &) = delete;
        Slot &operator=(const Slot &) = delete;

        uint32_t byte_offset() const { return number_ * kStrideBytes; } // in the map's value
        uint64_t value() const { return __atomic_load_n(owner_.word(number_), __ATOMIC_RELAXED); }

    private:
        StateSlots &owner_;
        const uint32_t number_;
    };

private:
    static constexpr uint32_t kStrideBytes = 64; // a cache line: all CPUs write
    static constexpr uint32_t kSlots = 8192;

    uint64_t *word(uint32_t number) const;
    void give_back(uint32_t number);

    SharedArray memory_;
    std::mutex mutex_; // all below
    std::map<uint64_t, std::weak_ptr<const Slot>> slots_;
    std::vector<uint32_t> free_;
};
} // namespace mapi::drivers::xdp
