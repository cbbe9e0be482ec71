// SPDX-License-Identifier: MIT
// Driver memory: a client's quota -> the interface that drivers use.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <mapi/driver.h>
#include <mapi/errors.h>

#include "engine/memory/quota.hpp"

namespace mapi::engine
{
class DriverMemory
{
public:
    explicit DriverMemory(std::shared_ptr<Quota> quota)
        : name_(quota->parent() ? quota->name() + " or " + quota->parent()->name() : quota->name()),
          calls_{{sizeof(mapi_memory), take, give_back, name_.c_str()}, std::move(quota)}
    {
    }
    DriverMemory(const DriverMemory &) = delete;
    DriverMemory &operator=(const DriverMemory &) = delete;

    const mapi_memory &calls() const { return calls_; }

private:
    struct Calls : mapi_memory {
        std::shared_ptr<Quota> quota;
    };

    static int take(const mapi_memory *memory, uint64_t bytes)
    {
        return static_cast<const Calls *>(memory)->quota->take(bytes) ? 0 : MAPI_LIMIT_REACHED;
    }
    static void give_back(const mapi_memory *memory, uint64_t bytes)
    {
        static_cast<const Calls *>(memory)->quota->give_back(bytes);
    }

    const std::string name_; // of the limits; a driver cannot tell which of both is reached
    const Calls calls_;
};
} // namespace mapi::engine
