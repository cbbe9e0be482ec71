// SPDX-License-Identifier: MIT
// Prefilter slot: the prefilter that a driver was given, for a thread of the driver's own that runs it.
#pragma once

#include <atomic>
#include <mutex>

#include <mapi/driver.h>

namespace mapi::drivers
{
class PrefilterSlot
{
public:
    // Any thread; null: there is none.  When it returns nobody runs the one before any more.
    void set(const mapi_prefilter *prefilter)
    {
        const std::lock_guard lock(mutex_);
        prefilter_ = prefilter;
        leaves_packets_alone_.store(prefilter && prefilter->leaves_packets_alone, std::memory_order_relaxed);
    }

    // False: there is no prefilter.
    bool run(const mapi_batch &batch, mapi_prefiltered &result)
    {
        const std::lock_guard lock(mutex_);
        if (!prefilter_)
            return false;
        prefilter_->run(prefilter_, &batch, &result);
        return true;
    }

    // Whether only packets that the prefilter lets pass are looked at.
    bool leaves_packets_alone() const { return leaves_packets_alone_.load(std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    const mapi_prefilter *prefilter_ = nullptr;
    std::atomic<bool> leaves_packets_alone_ = false;
};
} // namespace mapi::drivers
