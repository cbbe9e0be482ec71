// SPDX-License-Identifier: MIT
// Group pace: measured times -> the faster way.
#include "engine/packet_path/joint_pace.hpp"

#include "support/catch.hpp"

using mapi::engine::JointPace;

namespace
{
// Batches of work where the pass of the group takes `jointly_ns` a packet, and a single node
// `alone_ns`; returns how many ran as a group.
int run(JointPace &pace, const JointPace::Work &work, uint64_t jointly_ns, uint64_t alone_ns, int batches)
{
    int jointly = 0;
    for (int i = 0; i < batches; ++i) {
        if (pace.prefers_jointly(work)) {
            pace.note_jointly(work, jointly_ns * work.packets);
            ++jointly;
        } else {
            pace.note_alone(work, alone_ns * work.node_packets);
        }
    }
    return jointly;
}
} // namespace

TEST_CASE("the faster way is chosen, batch by batch", "[mapi-core][engine]")
{
    JointPace pace;
    run(pace, {64, 640}, 600, 30, 16); // both ways, to measure them
    CHECK(run(pace, {64, 640}, 600, 30, 200) == 0);   // 10 nodes of 30 ns
    CHECK(run(pace, {64, 6400}, 600, 30, 200) >= 199); // 100 of them
    CHECK(run(pace, {64, 64}, 600, 30, 200) <= 1);
}

TEST_CASE("a batch during which the thread was held up changes nothing, a lasting change does",
          "[mapi-core][engine]")
{
    JointPace pace;
    const JointPace::Work work = {64, 1280};
    run(pace, work, 300, 30, 1000);
    pace.note_jointly(work, 50000000);
    CHECK(run(pace, work, 300, 30, 200) >= 199);
    run(pace, work, 3000, 30, 2000);
    CHECK(run(pace, work, 3000, 30, 200) <= 1);
    run(pace, work, 100, 30, 20000); // measured again now and then
    CHECK(run(pace, work, 100, 30, 200) >= 199);
}
