// SPDX-License-Identifier: MIT
// Bit names: names of flow bits and of their groups -> numbers.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
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

// Keeps a name's number, or a group, for the one who has asked for it.
using Hold = std::shared_ptr<const void>;

// Any thread.  A name without a hold is forgotten, and its number may be another name's later.  The
// names must outlive the holds.
class BitNames
{
public:
    struct Bit {
        uint32_t number = 0;
        Hold hold; // null: there are kBitsMax others
    };
    struct GroupUse {
        BitGroup *group = nullptr;
        Hold hold; // null: there are kBitsMax others
    };

    Bit bit_of(const std::string &name);
    GroupUse group_of(const std::string &name);

    // The numbers that other names had, given to new ones since the last call: to be cleared in all
    // connections before functions see them.
    bool has_reused() const { return has_reused_.load(std::memory_order_acquire); }
    std::array<uint64_t, kBitWords> take_reused();

private:
    struct Known {
        uint32_t number = 0;
        uint32_t holds = 0;
    };
    struct KnownGroup {
        BitGroup group;
        uint32_t holds = 0;
    };

    void release_bit(const std::string &name);
    void release_group(const std::string &name);
    uint32_t take_number();

    std::mutex mutex_;
    std::map<std::string, Known> bits_;
    std::map<std::string, KnownGroup> groups_;
    std::bitset<kBitsMax> taken_;
    std::bitset<kBitsMax> ever_taken_;
    std::array<uint64_t, kBitWords> reused_{};
    std::atomic<bool> has_reused_{false};
};
} // namespace mapi::connections
