// SPDX-License-Identifier: MIT
// Group pace: measured times -> the faster way.
#include "engine/packet_path/group_policy.hpp"

#include "support/catch.hpp"

using mapi::engine::GroupPolicy;

namespace
{
// Batches of work where the pass of the group takes `group_ns` a packet, and a single node
// `alone_ns`; returns how many ran as a group.
int run(GroupPolicy &policy, const GroupPolicy::Work &work, uint64_t group_ns, uint64_t alone_ns,
        int batches)
{
    int grouped = 0;
    for (int i = 0; i < batches; ++i) {
        if (policy.prefers_group(work)) {
            policy.note_as_group(work, group_ns * work.packets);
            ++grouped;
        } else {
            policy.note_alone(work, alone_ns * work.node_packets);
        }
    }
    return grouped;
}
} // namespace

TEST_CASE("the faster way is chosen, batch by batch", "[mapi-core][engine]")
{
    GroupPolicy policy;
    run(policy, {64, 640}, 600, 30, 16);                 // both ways, to measure them
    CHECK(run(policy, {64, 640}, 600, 30, 200) == 0);    // 10 nodes of 30 ns
    CHECK(run(policy, {64, 6400}, 600, 30, 200) >= 199); // 100 of them
    CHECK(run(policy, {64, 64}, 600, 30, 200) <= 1);
}

TEST_CASE("a batch during which the thread was held up changes nothing, a lasting change does",
          "[mapi-core][engine]")
{
    GroupPolicy policy;
    const GroupPolicy::Work work = {64, 1280};
    run(policy, work, 300, 30, 1000);
    policy.note_as_group(work, 50000000);
    CHECK(run(policy, work, 300, 30, 200) >= 199);
    run(policy, work, 3000, 30, 2000);
    CHECK(run(policy, work, 3000, 30, 200) <= 1);
    run(policy, work, 100, 30, 20000); // measured again now and then
    CHECK(run(policy, work, 100, 30, 200) >= 199);
}
