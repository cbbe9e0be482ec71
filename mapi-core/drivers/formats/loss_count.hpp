// SPDX-License-Identifier: MIT
// Loss count: what a capture says of an interface's lost packets, beside packets and in statistics -> how many there were.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi::drivers
{
// What a capture says may be any number: the sum stays at the greatest one instead of beginning at 0 again.
constexpr uint64_t sum_of_losses(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

// The same loss may be in both: statistics count from the beginning of the capture, so that the last ones stand for all that was
// counted before them, beside packets or in earlier statistics.
class LossCount
{
public:
    // Beside a packet: lost since the packet before it.
    void add(uint64_t packets)
    {
        beside_packets_ = sum_of_losses(beside_packets_, packets);
        packets_ = sum_of_losses(packets_, packets);
    }

    // A block of statistics: the interface's own losses, and those of the system.
    struct Statistics {
        uint64_t interface = 0;
        uint64_t system = 0;
    };
    // What the last block said, for a block that does not repeat it.
    const Statistics &statistics() const { return statistics_; }
    void set(const Statistics &statistics)
    {
        statistics_ = statistics;
        packets_ = std::max(sum_of_losses(statistics.interface, statistics.system), beside_packets_);
    }

    uint64_t packets() const { return packets_; }

private:
    Statistics statistics_;
    uint64_t beside_packets_ = 0;
    uint64_t packets_ = 0;
};
} // namespace mapi::drivers
