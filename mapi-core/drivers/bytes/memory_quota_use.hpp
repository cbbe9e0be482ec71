// SPDX-License-Identifier: MIT
// Memory quota use: memory of a part of a driver, charged to the client that opened the device.
#pragma once

#include <cstdint>
#include <string>

#include <mapi/driver.h>

#include "drivers/capture_error.hpp"

namespace mapi::drivers
{
// Not thread-safe.
class MemoryQuotaUse
{
public:
    // memory must outlive the claim; null: not charged.
    explicit MemoryQuotaUse(const mapi_memory *memory) : memory_(memory) {}
    ~MemoryQuotaUse()
    {
        if (memory_)
            memory_->give_back(memory_, bytes_);
    }
    MemoryQuotaUse(const MemoryQuotaUse &) = delete;
    MemoryQuotaUse &operator=(const MemoryQuotaUse &) = delete;

    // Changes the claim to `bytes`.  False if fewer are left; then nothing changes.
    bool resize(uint64_t bytes)
    {
        if (memory_ && bytes > bytes_ && memory_->take(memory_, bytes - bytes_) != 0)
            return false;
        if (memory_ && bytes < bytes_)
            memory_->give_back(memory_, bytes_ - bytes);
        bytes_ = bytes;
        return true;
    }

    // The error for a failed resize(); `place`: what needs the memory, and where.
    CaptureError refusal(const std::string &place, uint64_t bytes) const
    {
        constexpr unsigned kMib = 20;
        return {Damage::kMemory, place + std::to_string(((bytes - bytes_) >> kMib) + 1) +
                                     " MiB of memory are required, but the client has less left (" +
                                     memory_->name +
                                     "); close flows and captures that are not needed"};
    }

private:
    const mapi_memory *const memory_;
    uint64_t bytes_ = 0;
};
} // namespace mapi::drivers
