// SPDX-License-Identifier: MIT
// Node: packets that arrive at two ports -> the same, impaired, at the other port, and the log.
#pragma once

#include <array>

#include "common/command/status_line.hpp"
#include "log.hpp"
#include "options.hpp"
#include "port.hpp"
#include "queue.hpp"

namespace impair
{
struct Result {
    std::array<Sums, kDirections> sums; // by direction
    double seconds = 0;
    uint64_t log_waits = 0;
    std::string gone; // why it ended, if an interface went away
};

class Node
{
public:
    // log: may be null.
    Node(const Options &options, std::array<Port, kDirections> &ports, Log *log);

    // Until Ctrl-C, the duration, or an interface goes away.
    Result run();

private:
    void take(Direction direction, const Arrival &arrival);
    void send_due();
    void send(Packet packet);
    void finish(const Record &record);
    void wait();
    void show(uint64_t now_ns);
    bool is_over();

    const Options &options_;
    std::array<Port, kDirections> &ports_; // that of FIRST receives forward packets
    Log *const log_;
    std::array<Queue, kDirections> queues_;
    std::array<uint64_t, kDirections> numbers_ = {};     // of the next packet
    std::array<uint64_t, kDirections> last_due_ns_ = {}; // of packets that keep their order
    std::array<Sums, kDirections> sums_;
    uint64_t begin_ns_ = 0;
    uint64_t looked_ns_ = 0, shown_ns_ = 0;
    command::StatusLine status_;
    std::string gone_;
};
} // namespace impair
