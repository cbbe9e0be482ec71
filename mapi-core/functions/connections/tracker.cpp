// SPDX-License-Identifier: MIT
// Tracker: batches and packets; protocols other than TCP.
#include "functions/connections/tracker.hpp"

#include <algorithm>
#include <exception>

#include <netinet/in.h>

namespace mapi::connections
{
namespace
{
constexpr uint16_t kGone = UINT16_MAX;       // no protocol: the connection is no longer found
constexpr uint64_t kSilenceNs = 30000000000; // after which other protocols begin again

bool is_source(const mapi_packet &packet, const headers::IpLayer &ip,
               const std::array<uint8_t, 16> &address)
{
    return std::ranges::equal(headers::source_of(packet, ip),
                              std::span(address).first(ip.version == 4 ? 4 : 16));
}

void *create()
{
    try {
        return new Tracker();
    } catch (const std::exception &) {
        return nullptr;
    }
}

void destroy(void *tracker)
{
    delete static_cast<Tracker *>(tracker);
}

void watch(void *tracker, const mapi_batch *batch)
{
    static_cast<Tracker *>(tracker)->watch(*batch);
}
} // namespace

const mapi_common_object kTracker = {
    .struct_size = sizeof(mapi_common_object),
    .create = create,
    .destroy = destroy,
    .bytes = sizeof(Tracker) + ConnectionTable::kMemoryBytes,
    .watch = watch,
};

void Tracker::watch(const mapi_batch &batch)
{
    if (names_.has_reused())
        table_.clear_bits(names_.take_reused());
    watched_ = batch.packets;
    batch_ = number_ + 1;
    const bool keeps_facts = keeps_facts_.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < batch.count; ++i) {
        seen_[i] = take(batch.packets[i]);
        if (keeps_facts && seen_[i].connection)
            facts_[i] = facts_now(*seen_[i].connection);
    }
}

Facts Tracker::facts_now(const Connection &connection)
{
    Facts facts;
    facts.tls = connection.tls.facts();
    facts.has_bytes = connection.key.protocol == IPPROTO_TCP &&
                      connection.state != State::kMidstream && connection.state != State::kFree;
    for (unsigned i = 0; i < 2; ++i) {
        const Side &side = connection.sides[i == 0 ? connection.client : 1 - connection.client];
        facts.bytes[i] = side.has_sent ? side.next - side.first + 1 : 0; // and the SYN
    }
    return facts;
}

Facts Tracker::facts_of(const mapi_batch &batch, unsigned i, const Seen &seen) const
{
    if (!seen.connection)
        return {};
    return batch.packets == watched_ ? facts_[i] : facts_now(*seen.connection);
}

void Tracker::read_tls(Connection &connection, const Packet &packet,
                       const cooking::Segment &segment)
{
    if (!(connection.tls.facts() & tls::kRead) && !tls::is_tls_port(packet.key.lower_port) &&
        !tls::is_tls_port(packet.key.upper_port) && !tls::begins_like_tls(segment.payload))
        return;
    connection.tls.read(segment.payload, packet.from == connection.client);
}

Seen Tracker::find(const mapi_batch &batch, unsigned i)
{
    if (batch.packets == watched_)
        return seen_[i];
    Packet packet = {};
    const headers::Headers found = headers::parse(batch.packets[i]);
    if (!read(batch.packets[i], found, packet))
        return {};
    Connection *const connection = table_.find(packet.key);
    if (!connection)
        return {};
    return {connection, connection->generation, connection->was_established,
            connection->state == State::kMidstream, packet.from == connection->client};
}

uint64_t *Tracker::bits_of(const Seen &seen, bool to_change)
{
    Connection *const connection = seen.connection;
    if (!connection || connection->generation != seen.generation)
        return nullptr;
    connection->has_bits |= to_change;
    return table_.bits_of(*connection);
}

// False: it has no connection.
bool Tracker::read(const mapi_packet &view, const headers::Headers &found, Packet &packet)
{
    packet.view = &view;
    packet.ip = found.innermost();
    if (!packet.ip || packet.ip->is_later_fragment)
        return false;
    const auto ports = headers::ports_of(view, *packet.ip);
    if (!ports && (packet.ip->protocol == IPPROTO_TCP || packet.ip->protocol == IPPROTO_UDP))
        return false;
    packet.key = functions::flow_key(view, *packet.ip);
    const bool is_lower =
        is_source(view, *packet.ip, packet.key.lower) &&
        (!ports || packet.key.lower != packet.key.upper || ports->source == packet.key.lower_port);
    packet.from = is_lower ? 0 : 1;
    return true;
}

Seen Tracker::take(const mapi_packet &view)
{
    ++number_;
    Packet packet = {};
    const headers::Headers found = headers::parse(view);
    if (!read(view, found, packet)) {
        counts_.untracked += found.innermost() ? 1 : 0;
        return {};
    }
    std::optional<cooking::Segment> segment;
    if (packet.ip->protocol == IPPROTO_TCP) {
        const headers::IpLayer &ip = *packet.ip;
        segment =
            cooking::read_segment(headers::source_of(view, ip), headers::destination_of(view, ip),
                                  {view.data + ip.transport, view.data + ip.end});
        if (segment)
            segment->cut_bytes = cooking::cut_bytes_of(view, ip);
    }
    Connection *connection = table_.find(packet.key);
    if (!connection && (segment || packet.ip->protocol != IPPROTO_TCP))
        connection = table_.add(packet.key, batch_);
    if (!connection) {
        ++counts_.untracked;
        return {};
    }
    ++counts_.packets;
    const bool was_established = connection->is_established();
    if (segment)
        connection = &take_tcp(*connection, packet, *segment);
    else if (packet.ip->protocol != IPPROTO_TCP)
        connection = &take_other(*connection, packet);
    if (segment && !segment->payload.empty() && keeps_facts_.load(std::memory_order_relaxed))
        read_tls(*connection, packet, *segment);
    connection->used = number_;
    connection->last_ns = view.timestamp_ns;
    connection->was_established |= connection->is_established();
    const bool has_ended = was_established && connection->state == State::kReset;
    return {connection, connection->generation, connection->is_established() || has_ended,
            connection->state == State::kMidstream, packet.from == connection->client};
}

Connection &Tracker::take_other(Connection &connection, const Packet &packet)
{
    const uint64_t now_ns = packet.view->timestamp_ns;
    const bool is_over = now_ns > connection.last_ns && now_ns - connection.last_ns > kSilenceNs;
    if (connection.state == State::kFree || is_over)
        return begin(connection, State::kBegun, packet.from);
    if (packet.from != connection.client)
        connection.state = State::kEstablished;
    return connection;
}

// In the place of the one before, or in another one if functions have yet to see packets of that
// one in this batch.
Connection &Tracker::begin(Connection &connection, State state, unsigned client)
{
    Connection *place = &connection;
    if (connection.state != State::kFree && connection.used >= batch_) {
        if (Connection *const other = table_.add(connection.key, batch_)) {
            connection.key.protocol = kGone;
            connection.state = State::kReset;
            place = other;
        }
    }
    table_.clear_bits(*place);
    ++counts_.connections;
    place->sides = {};
    place->rival = {};
    place->tls = {};
    place->state = state;
    place->client = uint8_t(client);
    place->was_established = false;
    ++place->generation;
    return *place;
}
} // namespace mapi::connections
