// SPDX-License-Identifier: MIT
// store: runs of points and their packets <-> a database.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "qos/store/packet.hpp"

namespace qos
{
// The store cannot be used, also not later: it is not a store, or permission is denied.
class StoreError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The store is away: it may be back later.
class StoreAway : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// One mapi-qos collect.
struct Run {
    int64_t id = 0; // random, so that collectors need not agree on it
    std::string point;
    std::string source;        // device or captures
    int64_t started_ns = 0;    // wall clock
    int64_t below = 0;         // packets were selected whose hash is less than this
    int64_t key = 0;           // of the hashes
    int64_t payload_bytes = 0; // that the hashes cover
    bool is_complete = false;  // it ended by itself, not by a crash
    int64_t first_ns = 0;      // the packets' time that it covers; 0: no packet yet
    int64_t last_ns = 0;
    int64_t packets = 0;   // that passed the filter
    int64_t selected = 0;  // of these
    int64_t unread = 0;    // of these: headers unreadable, or the covered bytes truncated
    int64_t lost = 0;      // lost by the source or libmapi, before selection
    int64_t no_room = 0;   // selected, but the buffer was full while the store was away
    int64_t malformed = 0; // selected, but could not be stored
};

// Packets in the order of their numbers, from first_number on, without gaps.
struct Batch {
    struct Flow {
        int64_t number; // of the run
        FlowKey key;
    };
    struct Packet {
        SelectedPacket packet; // its flow is in `flow`
        int64_t flow;
    };
    std::vector<Flow> flows;
    int64_t first_number = 0;
    std::vector<Packet> packets;
};

class Store
{
public:
    virtual ~Store() = default;
    Store() = default;
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    // One transaction.  The same batch may be written again when it is not known whether it was
    // stored: its packets are stored once.  Throws StoreAway, StoreError.
    virtual void write(const Run &run, const Batch &batch) = 0;

    virtual std::vector<Run> runs() = 0;
    // Packets of the run with a time from `from_ns` on and a hash below `below`, in any order.
    // Returns the number of rows that were left out because they are malformed.
    virtual uint64_t read(const Run &run, int64_t from_ns, int64_t below,
                          const std::function<void(const SelectedPacket &)> &take) = 0;
};

enum class Access { kRead, kWrite };

// location: a file, or postgresql://...  Creates the tables for writing.  Throws StoreAway,
// StoreError.
std::unique_ptr<Store> open_store(const std::string &location, Access access);
} // namespace qos
