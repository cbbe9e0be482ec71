// SPDX-License-Identifier: MIT
// packet_queue: selected packets, from the thread that reads them to the one that stores them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "qos/store/packet.hpp"

namespace qos
{
class PacketQueue
{
public:
    // With `waits`, push() waits when there is no room, so that a capture is read no faster than
    // its packets are stored; otherwise packets that find no room are counted.
    PacketQueue(size_t room, bool waits) : room_(room), waits_(waits) {}

    void push(const SelectedPacket &packet);
    // Returns at most `most` packets, after the first one has arrived and `least` are there, the
    // time is up, or none will follow.
    std::vector<SelectedPacket> take(size_t least, size_t most, std::chrono::milliseconds timeout);

    // No push() follows.
    void end();
    // push() drops from now on, and does not wait.
    void close();
    bool has_ended() const; // and everything was taken
    uint64_t no_room() const;
    size_t size() const;

private:
    const size_t room_;
    const bool waits_;
    mutable std::mutex mutex_;
    std::condition_variable has_packets_, has_room_;
    std::deque<SelectedPacket> packets_; // without moves of the rest when some are taken
    uint64_t no_room_ = 0;
    bool has_end_ = false;
    bool is_closed_ = false;
};
} // namespace qos
