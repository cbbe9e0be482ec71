// SPDX-License-Identifier: MIT
// Loss count: lost packets that a capture reports for an interface, with packets and in statistics
// -> their number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi::drivers
{
// A capture may contain any number, so the sum saturates instead of wrapping around.
constexpr uint64_t sum_of_losses(uint64_t one, uint64_t other)
{
    return one > UINT64_MAX - other ? UINT64_MAX : one + other;
}

// The same loss may be in both.  Statistics count from the beginning of the capture, so the last
// block replaces all losses counted before it, with packets or in earlier statistics.
class LossCount
{
public:
    // Reported with a packet: lost since the previous packet.
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
    // Values of the last block, for a block that does not repeat them.
    const Statistics &statistics() const { return statistics_; }
    void set(const Statistics &statistics)
    {
        statistics_ = statistics;
        packets_ =
            std::max(sum_of_losses(statistics.interface, statistics.system), beside_packets_);
    }

    uint64_t packets() const { return packets_; }

private:
    Statistics statistics_;
    uint64_t beside_packets_ = 0;
    uint64_t packets_ = 0;
};
} // namespace mapi::drivers
