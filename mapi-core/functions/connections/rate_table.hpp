// SPDX-License-Identifier: MIT
// Rate table: addresses -> counts, of the addresses that were seen last.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "functions/connections/rate_rule.hpp"
#include "functions/cooking/seeded_hash.hpp"

namespace mapi::connections
{
// Room for addresses that all tables of a client have in common.  Any thread.
class RateRoom
{
public:
    static constexpr int64_t kAddresses = 1 << 18;

    bool take_one()
    {
        if (left_.fetch_sub(1, std::memory_order_relaxed) > 0)
            return true;
        give_back(1);
        return false;
    }
    void give_back(size_t addresses)
    {
        left_.fetch_add(int64_t(addresses), std::memory_order_relaxed);
    }

private:
    std::atomic<int64_t> left_ = kAddresses;
};

// Takes memory as addresses come: of its own, then of the common room.
class RateTable
{
public:
    static constexpr size_t kAddressesMax = 4096;
    static constexpr size_t kOwnAddresses = 64;
    // 0 for version: packets without an address.
    struct Address {
        std::array<uint8_t, 16> bytes;
        uint8_t version;
        bool operator==(const Address &) const = default;
    };
    static_assert(sizeof(Address) == 17);

    explicit RateTable(RateRoom &room) : room_(room) {}
    ~RateTable() { clear(); }
    RateTable(const RateTable &) = delete;
    RateTable &operator=(const RateTable &) = delete;

    // The one that was silent longest is evicted if there is no room.
    RateState &touch(const Address &address)
    {
        if (const auto found = places_.find(address); found != places_.end()) {
            rows_.splice(rows_.end(), rows_, found->second);
            return rows_.back().state;
        }
        if (!has_room()) {
            places_.erase(rows_.front().address);
            rows_.pop_front();
            ++evicted_;
        }
        rows_.push_back({address, {}});
        places_.emplace(address, std::prev(rows_.end()));
        return rows_.back().state;
    }
    void clear()
    {
        if (rows_.size() > kOwnAddresses)
            room_.give_back(rows_.size() - kOwnAddresses);
        rows_.clear();
        places_.clear();
    }
    size_t size() const { return rows_.size(); }
    uint64_t evicted() const { return evicted_; }

private:
    struct Row {
        Address address;
        RateState state;
    };
    struct Hash {
        cooking::SeededHash hash = {};
        size_t operator()(const Address &address) const
        {
            return hash.of(&address, sizeof(address));
        }
    };

    // For one more address.
    bool has_room()
    {
        return rows_.size() < kOwnAddresses || (rows_.size() < kAddressesMax && room_.take_one());
    }

    RateRoom &room_;
    std::list<Row> rows_; // longest silent first
    std::unordered_map<Address, std::list<Row>::iterator, Hash> places_{0, Hash{}};
    uint64_t evicted_ = 0;

public:
    static constexpr uint64_t kAddressBytes = sizeof(Row) + sizeof(Address) + 10 * sizeof(void *);
};
} // namespace mapi::connections
