// SPDX-License-Identifier: MIT
// Prefilter slot: the prefilter that the engine has set, for a thread of the driver that runs it.
#pragma once

#include <atomic>
#include <mutex>

#include <mapi/driver.h>

namespace mapi::drivers
{
class PrefilterSlot
{
public:
    // Any thread.  Null removes the prefilter.  On return the previous prefilter is no longer
    // running.
    void set(const mapi_prefilter *prefilter)
    {
        const std::lock_guard lock(mutex_);
        prefilter_ = prefilter;
        reads_passed_only_.store(prefilter && prefilter->reads_passed_only,
                                 std::memory_order_relaxed);
    }

    // False if there is no prefilter or it has no result for this batch.
    bool run(const mapi_batch &batch, mapi_prefiltered &result)
    {
        const std::lock_guard lock(mutex_);
        if (!prefilter_)
            return false;
        prefilter_->run(prefilter_, &batch, &result);
        return result.known != 0;
    }

    // Whether packets that the prefilter does not let pass will not be read.
    bool reads_passed_only() const { return reads_passed_only_.load(std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    const mapi_prefilter *prefilter_ = nullptr;
    std::atomic<bool> reads_passed_only_ = false;
};
} // namespace mapi::drivers
