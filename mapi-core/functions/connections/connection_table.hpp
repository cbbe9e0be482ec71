// SPDX-License-Identifier: MIT
// Connection table: flow keys -> connections, in memory of a fixed size.
#pragma once

#include <array>
#include <cstdlib>
#include <memory>

#include "functions/connections/connection.hpp"
#include "functions/cooking/seeded_hash.hpp"

namespace mapi::connections
{
// A key has a few places.  If they are all taken, the connection that is over, else the one that
// never was established, else the one that has been silent longest leaves: a flood of SYNs does not
// evict established connections.  Connections of the current batch stay.
class ConnectionTable
{
public:
    static constexpr size_t kWays = 16;
    static constexpr size_t kPlaces = 1 << 17;
    static constexpr uint64_t kMemoryBytes =
        kPlaces * (sizeof(Connection) + kBitWords * sizeof(uint64_t));

    ConnectionTable(); // throws std::bad_alloc

    Connection *find(const functions::FlowKey &key);
    // A free place for a key that is not in the table; null: all its places are taken by
    // connections with packets from number `batch` on.
    Connection *add(const functions::FlowKey &key, uint64_t batch);
    // Of a connection that has bits; its words are zero after clear_bits().
    uint64_t *bits_of(const Connection &connection)
    {
        return bits_.get() + size_t(&connection - places_.get()) * kBitWords;
    }
    void clear_bits(Connection &connection);
    // Of all connections; reads all places.
    void clear_bits(const std::array<uint64_t, kBitWords> &cleared);
    uint64_t evicted() const { return evicted_; }

private:
    struct Free {
        void operator()(void *memory) const { free(memory); }
    };

    Connection *set_of(const functions::FlowKey &key);

    // Zeroed by the system when they are first used.
    std::unique_ptr<Connection[], Free> places_;
    std::unique_ptr<uint64_t[], Free> bits_;
    cooking::SeededHash hash_;
    uint64_t evicted_ = 0;
};
} // namespace mapi::connections
