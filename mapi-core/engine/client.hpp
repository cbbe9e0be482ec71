// SPDX-License-Identifier: MIT
// Client: what the flows of one program have in common: where they keep what it reads, how much memory there is for functions, and what
// these have together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <mapi/function.h>

#include "engine/memory/arena.hpp"
#include "engine/memory/budget.hpp"
#include "engine/flow_drops.hpp"

namespace mapi::engine
{
struct DeviceTotals;

// Any thread.
class Client
{
public:
    explicit Client(std::shared_ptr<Arena> arena = std::make_shared<HeapArena>(), std::shared_ptr<Budget> budget = std::make_shared<Budget>())
        : arena_(std::move(arena)), budget_(std::move(budget))
    {
    }

    const std::shared_ptr<Arena> &arena() const { return arena_; }
    // Of memory: what functions of its flows could need, and their common objects; what its captures hold, too, where they are counted.
    const std::shared_ptr<Budget> &budget() const { return budget_; }
    // Made for the first function that asks for it; it lives as long as the client and whoever got it.  Null: there is not so much left of
    // the budget.  Throws std::bad_alloc when it cannot be made.
    std::shared_ptr<void> common_object(const mapi_common_object &kind);
    // Of its flows of one device, which the totals stand for: another of that name begins anew.
    std::shared_ptr<FlowDrops> drops_of(const std::shared_ptr<DeviceTotals> &device);

private:
    const std::shared_ptr<Arena> arena_;
    const std::shared_ptr<Budget> budget_;
    std::mutex mutex_; // all below
    std::map<const mapi_common_object *, std::shared_ptr<void>> objects_;
    std::map<std::weak_ptr<DeviceTotals>, std::shared_ptr<FlowDrops>, std::owner_less<>> drops_;
};
} // namespace mapi::engine
