// SPDX-License-Identifier: MIT
// Driver memory: a client's budget, as a driver sees it.
#pragma once

#include <memory>
#include <utility>

#include <mapi/driver.h>
#include <mapi/errors.h>

#include "engine/budget.hpp"

namespace mapi::engine
{
class DriverMemory
{
public:
    explicit DriverMemory(std::shared_ptr<Budget> budget) : calls_{{sizeof(mapi_memory), 0, take, give_back, budget->name().c_str()}, std::move(budget)} {}

    const mapi_memory &calls() const { return calls_; }

private:
    struct Calls : mapi_memory {
        std::shared_ptr<Budget> budget;
    };

    static int take(const mapi_memory *memory, uint64_t bytes)
    {
        return static_cast<const Calls *>(memory)->budget->take(bytes) ? 0 : MAPI_LIMIT_REACHED;
    }
    static void give_back(const mapi_memory *memory, uint64_t bytes) { static_cast<const Calls *>(memory)->budget->give_back(bytes); }

    const Calls calls_;
};
} // namespace mapi::engine
