// SPDX-License-Identifier: MIT
// Client: what the flows of one program have in common: where they keep what it reads, how much its functions may hold, and what these
// have together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <mapi/function.h>

#include "engine/arena.hpp"
#include "engine/memory_budget.hpp"

namespace mapi::engine
{
// Any thread.
class Client
{
public:
    explicit Client(std::shared_ptr<Arena> arena = std::make_shared<HeapArena>(), std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>())
        : arena_(std::move(arena)), budget_(std::move(budget))
    {
    }

    const std::shared_ptr<Arena> &arena() const { return arena_; }
    // What functions may need at most: those of its flows, and their common objects.
    const std::shared_ptr<MemoryBudget> &budget() const { return budget_; }
    // Made for the first function that asks for it; it lives as long as the client and whoever got it.  Null: no memory, or none left
    // of the budget.
    std::shared_ptr<void> common_object(const mapi_common_object &kind);

private:
    const std::shared_ptr<Arena> arena_;
    const std::shared_ptr<MemoryBudget> budget_;
    std::mutex mutex_; // all below
    std::map<const mapi_common_object *, std::shared_ptr<void>> objects_;
};
} // namespace mapi::engine
