// SPDX-License-Identifier: MIT
// Node group policy (class GroupPolicy): times of a node group with different masks when run in one
// pass and one by one -> which is faster for a batch.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi::engine
{
// One pass for many nodes costs a multiple of one node's pass; the factor depends on the nodes, the
// packets and the machine.
class GroupPolicy
{
public:
    struct Work {
        uint64_t packets;      // that at least one node gets
        uint64_t node_packets; // each counted once for every node that gets it
    };

    bool prefers_group(const Work &work)
    {
        const bool is_less =
            as_group_.ns * double(work.packets) <= alone_.ns * double(work.node_packets);
        const uint32_t batch = batches_++;
        if (batch < kFirstBatches)
            return batch % 2 == 0;
        return batch % kLookInterval == 0 ? !is_less : is_less; // the other may have become faster
    }

    void note_as_group(const Work &work, uint64_t ns)
    {
        as_group_.note(double(ns) / double(work.packets));
    }
    void note_alone(const Work &work, uint64_t ns)
    {
        alone_.note(double(ns) / double(work.node_packets));
    }

private:
    static constexpr uint32_t kFirstBatches = 16;
    static constexpr uint32_t kLookInterval = 256;

    // Of one packet.  The thread may be preempted: a measurement moves the policy by at most an
    // eighth, except for the first ones, of which the minimum counts.
    struct Pace {
        double ns = 0;
        uint32_t measurements = 0;

        void note(double measured_ns)
        {
            if (measurements++ < kFirstBatches / 2)
                ns = measurements == 1 ? measured_ns : std::min(ns, measured_ns);
            else
                ns += std::clamp(measured_ns - ns, -ns, ns) / 8;
        }
    };

    Pace as_group_;
    Pace alone_;
    uint32_t batches_ = 0;
};
} // namespace mapi::engine
