// SPDX-License-Identifier: MIT
// The drain with long-lived rings, inconsistent rings, and records that their writers never
// finished.
#include "ring_fixture.hpp"

#include "support/record_reader.hpp"
#include "support/temp_dir.hpp"

extern "C" {
#include "drain/drain.h"
#include "session/announce.h"
}

namespace
{
struct Drained {
    int err;
    nsp_session_counts counts;
    test_support::Trace trace;
};

class Drain
{
public:
    explicit Drain(Rings &rings) : rings_(rings)
    {
        REQUIRE(nsp_drain_open(&drain, &rings.map, (dir_ / "t.nsl").c_str(), -1) == 0);
    }
    Drained finish()
    {
        Drained result{};
        for (uint32_t cpu = 0; cpu < drain_cpus_; ++cpu)
            nsp_ring_refuse(nsp_shm_ring(&rings_.map, cpu));
        result.err = nsp_drain_finish(&drain, NSLICE_END_CLOSED, &result.counts);
        result.trace = test_support::read_trace(dir_ / "t.nsl");
        return result;
    }
    nsp_drain drain;

private:
    Rings &rings_;
    uint32_t drain_cpus_ = rings_.map.shm->cpus;
    test_support::TempDir dir_;
};
} // namespace

TEST_CASE("what a writer never finished is counted as torn, with everything after it",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    for (unsigned i = 0; i < 10; ++i)
        rings.push(i, 1);
    auto *seventh = static_cast<uint64_t *>(
        const_cast<void *>(nsp_ring_data(&rings.ring(), Rings::kBytes, 18)));
    seventh[1] = 0;
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.counts.issued == 10);
    CHECK(done.counts.drained == 6);
    CHECK(done.counts.lost[NSLICE_LOST_TORN] == 4);
}

TEST_CASE("a monitored flight recorder counts correctly past 2^32 units between two snapshots",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC, NSLICE_FULL_OVERWRITE);
    Drain drain(rings);
    constexpr uint64_t kStepRecords = 1u << 29, kSteps = 20;
    for (uint64_t i = 0; i < kSteps; ++i) {
        // what 2^29 records of two units do to a ring in mode overwrite: head and tail move
        rings.ring().head += (kStepRecords << 32) + 2 * kStepRecords;
        rings.ring().tail = rings.ring().head;
        nsp_drain_watch(&drain.drain);
    }
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.counts.issued == kSteps * kStepRecords);
    CHECK(done.counts.lost[NSLICE_LOST_OVERWRITTEN] == kSteps * kStepRecords);
}

TEST_CASE("what a pause left out lies before the next record of each CPU, and is no loss",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    for (unsigned i = 0; i < 3; ++i)
        rings.push(i, 1);
    nsp_drain_pause(&drain.drain);
    for (unsigned i = 0; i < 5; ++i)
        rings.push(i, 1);
    nsp_drain_pass(&drain.drain);
    rings.push(5, 1);
    nsp_drain_resume(&drain.drain);
    for (unsigned i = 0; i < 2; ++i)
        rings.push(i, 1);
    nsp_drain_pass(&drain.drain);
    const nsp_drain_cpu &cpu = drain.drain.cpus[rings.ring().cpu];
    CHECK(cpu.chunks == 2);
    for (uint32_t other = 0; other < rings.map.cpus; ++other)
        CHECK(drain.drain.cpus[other].left_out.noted == 6);
    CHECK(cpu.left_out.passed == 6); // of the second chunk
    CHECK(cpu.gaps.passed == 0);
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.counts.issued == 5);
    CHECK(done.counts.drained == 5);
    CHECK(done.trace.lost() == 0);
    CHECK(done.trace.info.at("session.paused_records") == "6");
    CHECK(done.trace.info.at("session.switches") == "2");
    CHECK(std::stoull(done.trace.info.at("session.paused_ns")) > 0);
}

TEST_CASE("a pause that left nothing out begins no chunk", "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    rings.push(1, 1);
    nsp_drain_pause(&drain.drain);
    nsp_drain_resume(&drain.drain);
    rings.push(2, 1);
    nsp_drain_pass(&drain.drain);
    CHECK(drain.drain.cpus[rings.ring().cpu].chunks == 1);
    CHECK(drain.finish().trace.info.at("session.paused_records") == "0");
}

TEST_CASE("a pause in a pause and going on twice have no effect", "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    nsp_drain_resume(&drain.drain);
    rings.push(1, 1);
    nsp_drain_pause(&drain.drain);
    nsp_drain_pause(&drain.drain);
    rings.push(2, 1);
    nsp_drain_resume(&drain.drain);
    nsp_drain_resume(&drain.drain);
    rings.push(3, 1);
    const Drained done = drain.finish();
    CHECK(done.counts.drained == 2);
    CHECK(done.trace.info.at("session.switches") == "2");
}

TEST_CASE("a thousand switches have lines of their own, and all are counted", "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    for (int i = 0; i < 3000; ++i) {
        nsp_drain_pause(&drain.drain);
        nsp_drain_resume(&drain.drain);
    }
    const Drained done = drain.finish();
    CHECK(done.trace.info.count("session.switch.1000") == 1);
    CHECK(done.trace.info.count("session.switch.1001") == 0);
    CHECK(done.trace.info.at("session.switches") == "6000");
}

TEST_CASE("a program that corrupts the shared settings does not mislead the drain",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    rings.push(1, 1);
    rings.map.shm->cpus = 1u << 30;
    rings.map.shm->ring_bytes = 1ull << 40;
    rings.ring().mask = 0xffffffff;
    nsp_drain_pass(&drain.drain);
    rings.ring().head += 0x7fffffff12345678;
    nsp_drain_pass(&drain.drain);
    rings.map.shm->ring_kind = 99;
    const Drained done = drain.finish();
    CHECK(done.trace.has_footer);
    CHECK(done.counts.drained == 1);
}

TEST_CASE("a dead writer's announcement does not take the later ones with it",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    rings.map.shm->announce_tail += 40; // reserved by a process that was killed right then
    REQUIRE(nsp_announce(&rings.map, NSLICE_CHUNK_INFO, "later=yes\n", 10) == 0);
    nsp_drain_pass(&drain.drain);
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.trace.info.at("later") == "yes");
    CHECK(done.trace.info.at("session.dropped_announcements") == "1");
}

TEST_CASE("records wait for an unfinished announcement, so that a site precedes its records",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    REQUIRE(nsp_announce(&rings.map, NSLICE_CHUNK_INFO, "slow=yes\n", 9) == 0);
    auto *ready = reinterpret_cast<uint16_t *>(rings.map.announcements + 6);
    *ready = 0; // its writer is preempted halfway
    rings.push(1, 1);
    CHECK(nsp_drain_pass(&drain.drain) == 0);
    CHECK(drain.drain.is_waiting == 1);
    CHECK(rings.used_records() == 1);
    *ready = 1;
    CHECK(nsp_drain_pass(&drain.drain) > 0);
    CHECK(drain.drain.is_waiting == 0);
    CHECK(rings.used_records() == 0);
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.trace.info.at("slow") == "yes");
}

TEST_CASE("an announcement that is never finished delays the records once and briefly",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    rings.map.shm->announce_tail += 40;
    rings.push(1, 1);
    while (nsp_drain_pass(&drain.drain) == 0)
        REQUIRE(drain.drain.is_waiting == 1);
    rings.push(2, 1);
    CHECK(nsp_drain_pass(&drain.drain) > 0);
    CHECK(drain.finish().counts.drained == 2);
}

TEST_CASE("a trace from which nothing was dropped does not mention drops", "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    Drain drain(rings);
    CHECK_FALSE(drain.finish().trace.info.contains("session.dropped_announcements"));
}

TEST_CASE("a writer that moved the tail but has not counted yet leaves no gap in the counts",
          "[libnsprobe][drain]")
{
    Rings rings(NSLICE_RING_RSEQ, NSLICE_FULL_OVERWRITE);
    Drain drain(rings);
    for (unsigned i = 0; i < 10; ++i)
        rings.push(i, 0);
    rings.ring().tail += NSLICE_POSITION_STEP(2) * 4; // and is preempted here
    const Drained done = drain.finish();
    CHECK(done.trace.complaint() == "");
    CHECK(done.counts.issued == 10);
    CHECK(done.counts.drained == 6);
    CHECK(done.counts.lost[NSLICE_LOST_OVERWRITTEN] == 4);
}
