// SPDX-License-Identifier: MIT
// Bit names: names of flow bits and of their groups -> numbers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "functions/connections/connection.hpp"

namespace mapi::connections
{
// The bits of a group.  One thread at a time adds, any thread reads.
struct BitGroup {
    std::array<std::atomic<uint64_t>, kBitWords> words{};
    bool is_empty() const
    {
        for (const auto &word : words) {
            if (word.load(std::memory_order_relaxed) != 0)
                return false;
        }
        return true;
    }
};

// Any thread.  Names stay for as long as the tracker.
class BitNames
{
public:
    // -1: there are kBitsMax others.
    int number_of(const std::string &name)
    {
        const std::lock_guard lock(mutex_);
        const auto known = numbers_.find(name);
        if (known != numbers_.end())
            return known->second;
        if (numbers_.size() == kBitsMax)
            return -1;
        return numbers_[name] = int(numbers_.size());
    }
    // Null: there are kBitsMax others.
    BitGroup *group_of(const std::string &name)
    {
        const std::lock_guard lock(mutex_);
        if (groups_.size() == kBitsMax && !groups_.contains(name))
            return nullptr;
        std::unique_ptr<BitGroup> &group = groups_[name];
        if (!group)
            group = std::make_unique<BitGroup>();
        return group.get();
    }

private:
    std::mutex mutex_;
    std::map<std::string, int> numbers_;
    std::map<std::string, std::unique_ptr<BitGroup>> groups_;
};
} // namespace mapi::connections
