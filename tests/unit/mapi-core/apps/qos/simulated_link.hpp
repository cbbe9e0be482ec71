// SPDX-License-Identifier: MIT
// Simulated link: packets with known fates -> what two points see.
#pragma once

#include <cstdint>
#include <functional>

#include "qos/analyse/load.hpp"

namespace qos_test
{
constexpr int64_t kMs = 1000000, kSecond = 1000 * kMs;
constexpr int64_t kStart = 1700000000 * kSecond;
constexpr uint32_t kForwardFlow = 0, kBackwardFlow = 1;

inline qos::FlowKey flow_key(uint8_t source, uint8_t destination)
{
    qos::FlowKey key;
    key.source[0] = source;
    key.destination[0] = destination;
    key.source_port = key.destination_port = 9;
    key.protocol = 17;
    return key;
}

class SimulatedLink
{
public:
    SimulatedLink()
    {
        seen_.flows = {flow_key(1, 2), flow_key(2, 1)};
        seen_.below = int64_t(1) << 32;
        seen_.from.name = "a";
        seen_.to.name = "b";
    }

    // Second clock - first clock at a true time.
    std::function<int64_t(int64_t)> clock_error = [](int64_t) { return 0; };

    // Returns the packet's digest.  delay_ns < 0: lost.  Times count from kStart.
    uint64_t forward(int64_t sent_ns, int64_t delay_ns)
    {
        add_first(++digest_, sent_ns, kForwardFlow);
        if (delay_ns >= 0)
            add_second(digest_, sent_ns + delay_ns, kForwardFlow);
        return digest_;
    }
    uint64_t backward(int64_t sent_ns, int64_t delay_ns)
    {
        add_second(++digest_, sent_ns, kBackwardFlow);
        if (delay_ns >= 0)
            add_first(digest_, sent_ns + delay_ns, kBackwardFlow);
        return digest_;
    }
    void add_first(uint64_t digest, int64_t time_ns, uint32_t flow)
    {
        seen_.from.sightings.push_back({kStart + time_ns, digest, flow, first_hop_limit});
    }
    void add_second(uint64_t digest, int64_t time_ns, uint32_t flow)
    {
        const int64_t shown_ns = time_ns + clock_error(time_ns);
        seen_.to.sightings.push_back({kStart + shown_ns, digest, flow, second_hop_limit});
    }

    // Both points were there until this time.
    const qos::Observations &seen(int64_t until_ns)
    {
        finish(seen_.from, 0, until_ns);
        finish(seen_.to, clock_error(0), until_ns + clock_error(until_ns));
        return seen_;
    }

    uint8_t first_hop_limit = 64, second_hop_limit = 64;

private:
    static void finish(qos::Point &point, int64_t first_ns, int64_t last_ns)
    {
        std::vector<uint32_t> runs(point.sightings.size());
        qos::merge_runs(point.sightings, runs);
        point.covered = {{kStart + first_ns, kStart + last_ns}};
        point.packets = point.sightings.size();
    }

    qos::Observations seen_;
    uint64_t digest_ = 0;
};
} // namespace qos_test
