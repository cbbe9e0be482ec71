// SPDX-License-Identifier: MIT
// Connection: what the tracker knows of the packets between two ends.
#pragma once

#include <array>
#include <cstdint>

#include "functions/common/flow_key.hpp"
#include "functions/connections/tls_state.hpp"

namespace mapi::connections
{
constexpr uint32_t kBitsMax = 1024; // flow bits of a client on one device
constexpr uint32_t kBitWords = kBitsMax / 64;

// An end of the connection: 0 is the lower one of the key.
struct Side {
    uint32_t first = 0; // sequence number of the first byte, after a SYN
    uint32_t next = 0;  // after the last byte that it has sent
    uint32_t acked = 0; // what it has acknowledged of the other end's bytes
    bool has_sent = false;
    bool has_acked = false;
    bool has_finished = false;
    bool lacks_checksums = false; // its SYN had none
};

enum class State : uint8_t {
    kFree,        // the place holds no connection
    kAsked,       // TCP: a SYN
    kAnswered,    // and a SYN+ACK
    kEstablished, // and an ACK; other protocols: both ends have sent
    kBegun,       // other protocols: one end has sent
    kMidstream,   // TCP: no SYN was seen
    kReset        // TCP: a valid RST has ended it
};

// A SYN between ends that already have a connection; it is a new one if the other end answers it.
struct Rival {
    uint32_t first = 0;
    uint8_t client = 0;
    bool is_there = false;
    bool lacks_checksums = false;
};

// Zeros are a free place.
struct Connection {
    functions::FlowKey key;
    uint64_t last_ns = 0;
    uint64_t used = 0; // number of the last packet
    std::array<Side, 2> sides;
    Rival rival;
    State state = State::kFree;
    uint8_t client = 0; // the side that began it
    bool was_established = false;
    bool has_bits = false;
    uint32_t generation = 0; // of connections in this place
    tls::State tls;          // if a function asks for it

    bool is_over() const
    {
        return state == State::kReset || (sides[0].has_finished && sides[1].has_finished);
    }
    bool is_established() const { return state == State::kEstablished; }
};
} // namespace mapi::connections
