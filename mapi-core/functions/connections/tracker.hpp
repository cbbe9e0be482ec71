// SPDX-License-Identifier: MIT
// Tracker: all packets of a device -> the state of each packet's connection when it arrived, and
// the connection's flow bits.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <mapi/function.h>

#include "functions/connections/bit_names.hpp"
#include "functions/connections/connection_table.hpp"
#include "functions/connections/fact_tests.hpp"
#include "functions/cooking/segment.hpp"
#include "headers/headers.hpp"

namespace mapi::connections
{
// A packet's connection.
struct Seen {
    Connection *connection = nullptr; // null: none
    uint32_t generation = 0;          // its place may hold another one since
    bool is_established = false;      // with this packet
    bool is_midstream = false;
    bool is_from_client = false;
};

struct Counts {
    uint64_t packets = 0; // with a connection
    uint64_t connections = 0;
    uint64_t untracked = 0; // IP packets without one: later fragments, truncated headers, no room
    uint64_t wrong_checksums = 0; // of TCP, in packets that would have changed a state
};

// One for each client and device.  All but names() and keep_facts() on the device's thread.
class Tracker
{
public:
    // The engine calls it with each batch before functions get it.
    void watch(const mapi_batch &batch);
    // Of packet i of the batch.  A packet that another function has made belongs to the connection
    // of its addresses and ports, as it is now.
    Seen find(const mapi_batch &batch, unsigned i);
    // Null: it has none that is still the same.
    uint64_t *bits_of(const Seen &seen, bool to_change);

    // From the next batch on.
    void keep_facts() { keeps_facts_.store(true, std::memory_order_relaxed); }
    // Of packet i of the batch, for which find() has returned this.
    Facts facts_of(const mapi_batch &batch, unsigned i, const Seen &seen) const;

    BitNames &names() { return names_; }
    const Counts &counts() const { return counts_; }
    uint64_t evicted() const { return table_.evicted(); }

private:
    struct Packet {
        const mapi_packet *view;
        const headers::IpLayer *ip;
        functions::FlowKey key;
        unsigned from;       // the side that sent it
        bool lacks_checksum; // of TCP, as far as it was looked at
    };

    static bool read(const mapi_packet &view, const headers::Headers &found, Packet &packet);
    Seen take(const mapi_packet &view);
    static void read_tls(Connection &connection, const Packet &packet,
                         const cooking::Segment &segment);
    static Facts facts_now(const Connection &connection);
    // Each returns the connection that the packet belongs to: the given one, or one that it begins.
    Connection &take_other(Connection &connection, const Packet &packet);
    Connection &take_tcp(Connection &connection, Packet &packet, const cooking::Segment &segment);
    Connection &take_syn(Connection &connection, const Packet &packet,
                         const cooking::Segment &segment);
    Connection &take_answer(Connection &connection, const Packet &packet,
                            const cooking::Segment &segment);
    Connection &take_reset(Connection &connection, const Packet &packet,
                           const cooking::Segment &segment);
    Connection &take_data(Connection &connection, Packet &packet, const cooking::Segment &segment);
    bool accepts_checksum(const Connection &connection, Packet &packet, bool is_syn);
    Connection &begin(Connection &connection, State state, unsigned client);

    ConnectionTable table_;
    BitNames names_;
    Counts counts_;
    uint64_t number_ = 0;                        // of the last packet
    uint64_t batch_ = 1;                         // number of its batch's first packet
    const mapi_packet *watched_ = nullptr;       // the packets of the batch
    std::array<Seen, MAPI_BATCH_MAX> seen_ = {}; // of each
    std::array<Facts, MAPI_BATCH_MAX> facts_ = {};
    std::atomic<bool> keeps_facts_ = false;
};

// What create() of a function requests.
extern const mapi_common_object kTracker;
} // namespace mapi::connections
