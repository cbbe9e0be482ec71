// SPDX-License-Identifier: MIT
// Since last: a count -> its growth since the last read, for devices with results=since_last.
#pragma once

#include <cstdint>
#include <mutex>

namespace mapi::engine
{
// Any thread: the values that all readers of one function get add up to the count.
class SinceLast
{
public:
    template <class Read> uint64_t take(Read read)
    {
        const std::lock_guard lock(mutex_);
        const uint64_t count = read();
        const uint64_t grown = count < last_ ? count : count - last_; // after a delayed reset
        last_ = count;
        return grown;
    }
    // reset(): the count starts at 0 again.
    template <class Reset> void restart(Reset reset)
    {
        const std::lock_guard lock(mutex_);
        reset();
        last_ = 0;
    }

private:
    std::mutex mutex_;
    uint64_t last_ = 0;
};
} // namespace mapi::engine
