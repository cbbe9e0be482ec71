// SPDX-License-Identifier: MIT
// Rate table: addresses -> counts, of the addresses that were seen last.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "functions/connections/rate_rule.hpp"
#include "functions/cooking/seeded_hash.hpp"

namespace mapi::connections
{
class RateTable
{
public:
    static constexpr size_t kAddressesMax = 4096;
    // 0 for version: packets without an address.
    struct Address {
        std::array<uint8_t, 16> bytes;
        uint8_t version;
        bool operator==(const Address &) const = default;
    };
    static_assert(sizeof(Address) == 17);

    // The one that was silent longest is evicted if the table is full.
    RateState &touch(const Address &address)
    {
        if (const auto found = places_.find(address); found != places_.end()) {
            rows_.splice(rows_.end(), rows_, found->second);
            return rows_.back().state;
        }
        if (rows_.size() == kAddressesMax) {
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

    std::list<Row> rows_; // longest silent first
    std::unordered_map<Address, std::list<Row>::iterator, Hash> places_{0, Hash{}};
    uint64_t evicted_ = 0;

public:
    static constexpr uint64_t kMemoryBytes =
        kAddressesMax * (sizeof(Row) + sizeof(Address) + 8 * sizeof(void *));
};
} // namespace mapi::connections
