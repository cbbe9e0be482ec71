// SPDX-License-Identifier: MIT
#include "functions/connections/connection_table.hpp"

#include <algorithm>
#include <new>
#include <tuple>

namespace mapi::connections
{
namespace
{
// The smallest leaves first.
std::tuple<int, uint64_t> worth_of(const Connection &connection)
{
    const int kind = connection.state == State::kFree ? 0
                     : connection.is_over()           ? 1
                     : !connection.was_established    ? 2
                                                      : 3;
    return {kind, connection.used};
}
} // namespace

ConnectionTable::ConnectionTable()
    : places_(static_cast<Connection *>(calloc(kPlaces, sizeof(Connection)))),
      bits_(static_cast<uint64_t *>(calloc(kPlaces * kBitWords, sizeof(uint64_t))))
{
    if (!places_ || !bits_)
        throw std::bad_alloc();
}

Connection *ConnectionTable::set_of(const functions::FlowKey &key)
{
    return places_.get() + hash_.of(&key, sizeof(key)) % (kPlaces / kWays) * kWays;
}

Connection *ConnectionTable::find(const functions::FlowKey &key)
{
    Connection *const set = set_of(key);
    const auto found = std::find_if(set, set + kWays, [&](const Connection &connection) {
        return connection.state != State::kFree && connection.key == key;
    });
    return found == set + kWays ? nullptr : found;
}

Connection *ConnectionTable::add(const functions::FlowKey &key, uint64_t batch)
{
    Connection *const set = set_of(key);
    Connection *place = nullptr;
    for (Connection *each = set; each != set + kWays; ++each) {
        const bool may_leave = each->state == State::kFree || each->used < batch;
        if (may_leave && (!place || worth_of(*each) < worth_of(*place)))
            place = each;
    }
    if (!place || (place->state != State::kFree && !place->is_over()))
        ++evicted_;
    if (!place)
        return nullptr;
    clear_bits(*place);
    const uint32_t generation = place->generation + 1;
    *place = Connection{};
    place->key = key;
    place->generation = generation;
    return place;
}

void ConnectionTable::clear_bits(Connection &connection)
{
    if (connection.has_bits)
        std::fill_n(bits_of(connection), kBitWords, 0);
    connection.has_bits = false;
}

void ConnectionTable::clear_bits(const std::array<uint64_t, kBitWords> &cleared)
{
    for (size_t i = 0; i < kPlaces; ++i) {
        if (!places_[i].has_bits)
            continue;
        uint64_t *const words = bits_of(places_[i]);
        for (size_t word = 0; word < kBitWords; ++word)
            words[word] &= ~cleared[word];
    }
}
} // namespace mapi::connections
