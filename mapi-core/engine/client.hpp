// SPDX-License-Identifier: MIT
// Client: state shared by the flows of one program: the memory for its results, the memory quota
// of its functions, and objects that these share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <mapi/function.h>

#include "engine/flow_drops.hpp"
#include "engine/memory/arena.hpp"
#include "engine/memory/quota.hpp"

namespace mapi::engine
{
struct DeviceTotals;

// Any thread.
class Client
{
public:
    explicit Client(std::shared_ptr<Arena> arena = std::make_shared<HeapArena>(),
                    std::shared_ptr<Quota> quota = std::make_shared<Quota>())
        : arena_(std::move(arena)), quota_(std::move(quota))
    {
    }

    const std::shared_ptr<Arena> &arena() const { return arena_; }
    // Memory that functions of its flows and their common objects could need, and that its captures
    // hold, if they are charged.
    const std::shared_ptr<Quota> &quota() const { return quota_; }
    // Created for the first function that requests it; it lives as long as the client and every
    // holder.  Null if the quota is exhausted.  Throws std::bad_alloc if it cannot be created.
    std::shared_ptr<void> common_object(const mapi_common_object &kind);
    // The same for one device, for as long as any holder.
    std::shared_ptr<void> watching_object(const mapi_common_object &kind,
                                          const std::shared_ptr<DeviceTotals> &device);
    // Of its flows on one device, identified by its totals: another device of the same name starts
    // at 0.
    std::shared_ptr<FlowDrops> drops_of(const std::shared_ptr<DeviceTotals> &device);

private:
    template <class Value>
    using OfDevices = std::map<std::weak_ptr<DeviceTotals>, Value, std::owner_less<>>;

    std::shared_ptr<void> make(const mapi_common_object &kind);

    const std::shared_ptr<Arena> arena_;
    const std::shared_ptr<Quota> quota_;
    std::mutex mutex_; // all below
    std::map<const mapi_common_object *, std::shared_ptr<void>> objects_;
    std::map<const mapi_common_object *, OfDevices<std::weak_ptr<void>>> watching_;
    OfDevices<std::shared_ptr<FlowDrops>> drops_;
};
} // namespace mapi::engine
