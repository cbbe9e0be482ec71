// SPDX-License-Identifier: MIT
// decode: events of a block -> the threads that wrote them; exact only for a few threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "decode/event.hpp"

namespace nsdump
{
class ThreadSet
{
public:
    ThreadSet() = default;
    explicit ThreadSet(std::span<const Event> events)
    {
        if (events.empty())
            return;
        uint32_t last = events.front().thread_id;
        add(last);
        for (const Event &event : events)
            if (event.thread_id != last)
                add(last = event.thread_id);
    }

    // Also true if unknown.
    bool may_share(const ThreadSet &other) const
    {
        if (count_ > kMax || other.count_ > kMax) {
            uint64_t both = 0;
            for (size_t i = 0; i < bits_.size(); ++i)
                both |= bits_[i] & other.bits_[i];
            return both != 0;
        }
        return std::find_first_of(ids_.begin(), ids_.begin() + count_, other.ids_.begin(),
                                  other.ids_.begin() + other.count_) != ids_.begin() + count_;
    }

private:
    static constexpr size_t kMax = 8;

    void add(uint32_t id)
    {
        const uint32_t bit = id * 2654435761u >> 20;
        bits_[bit / 64] |= uint64_t{1} << bit % 64;
        if (count_ > kMax ||
            std::find(ids_.begin(), ids_.begin() + count_, id) != ids_.begin() + count_)
            return;
        if (count_ < kMax)
            ids_[count_] = id;
        ++count_;
    }

    std::array<uint32_t, kMax> ids_{};
    size_t count_ = 0;                // if more than kMax, only bits_ is valid
    std::array<uint64_t, 64> bits_{}; // by hash; of pairs of sets of 30 threads 1 in 5 collides
};
} // namespace nsdump
