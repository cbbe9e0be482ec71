// SPDX-License-Identifier: MIT
// Expired-flow ring: flows that ended, from the device's thread to one reader, without a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mapi/results.h>

namespace mapi::functions
{
class ExpiredFlowRing
{
public:
    static constexpr uint64_t memory_bytes(size_t room) { return room * sizeof(flow_data); }

    explicit ExpiredFlowRing(size_t room) : room_(room), flows_(new flow_data[room]) {}

    // Device's thread.  False: no room.
    bool push(const flow_data &flow)
    {
        const uint64_t written = written_.load(std::memory_order_relaxed);
        // pairs with the release in take(): the reader is done with the place
        if (written - read_.load(std::memory_order_acquire) == room_)
            return false;
        flows_[written % room_] = flow;
        written_.store(written + 1, std::memory_order_release);
        return true;
    }

    // Reader's thread: at most so many, the oldest first.
    size_t take(flow_data *to, size_t most)
    {
        const uint64_t read = read_.load(std::memory_order_relaxed);
        // pairs with the release in push(): the flow is whole
        const auto count = size_t(std::min<uint64_t>(most, written_.load(std::memory_order_acquire) - read));
        for (size_t i = 0; i < count; ++i)
            to[i] = flows_[(read + i) % room_];
        read_.store(read + count, std::memory_order_release);
        return count;
    }

private:
    const size_t room_;
    const std::unique_ptr<flow_data[]> flows_;
    alignas(64) std::atomic<uint64_t> written_ = 0;
    alignas(64) std::atomic<uint64_t> read_ = 0;
};
} // namespace mapi::functions
