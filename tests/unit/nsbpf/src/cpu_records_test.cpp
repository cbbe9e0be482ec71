// SPDX-License-Identifier: MIT
// Rings of several programs on one CPU -> one stream whose times grow.
#include <algorithm>
#include <vector>

#include "ring_rig.hpp"

using namespace nsbpf_test;

namespace
{
// The first one's records include the second's ring.
struct Two {
    Two() { first.records.add(*second.reader); }
    std::vector<uint64_t> values()
    {
        std::vector<uint64_t> all;
        for (const Chunk &chunk : first.chunks())
            for (size_t at = 2; at < chunk.words.size(); at += 3)
                all.push_back(chunk.words[at]);
        return all;
    }
    Rig first, second;
};

// Of the rig's line, in which a ns is two ticks: later than what a test writes.
void make_now_late(Two &two)
{
    const uint64_t now = nsbpf::read_ticks();
    two.first.line = {};
    for (uint64_t i = 0; i < 4; ++i)
        two.first.line.add({now + 2 * i * 1000, kBaseNs + i * 1000, 1});
}
} // namespace

TEST_CASE("records of two rings come in the order of their times", "[nsbpf][cpu_records]")
{
    Two two;
    for (uint64_t i = 0; i < 20; ++i)
        (i % 3 ? two.first : two.second).write(i, kBaseNs + i);
    two.first.take_all();
    std::vector<uint64_t> expected(20);
    for (uint64_t i = 0; i < 20; ++i)
        expected[i] = i;
    CHECK(two.values() == expected);
    const nslice_file_footer_cpu row = two.first.records.row();
    CHECK(row.issued == 20);
    CHECK(row.drained == 20);
    CHECK(two.first.records.late() == 0);
}

TEST_CASE("a record waits as long as an incomplete one may be before it", "[nsbpf][cpu_records]")
{
    Two two;
    two.first.line = {};
    for (uint64_t i = 0; i < 4; ++i) // so many ticks that patience lasts for minutes
        two.first.line.add({i * 2'000'000, kBaseNs + i * 1000, 1});
    const uint64_t incomplete = two.first.ring->head;
    two.first.write(1, kBaseNs + 10, false);
    two.second.write(2, kBaseNs + 20);
    two.first.records.pass(two.first.pipe, two.first.line);
    CHECK(two.values().empty());
    two.first.complete_at(incomplete);
    two.first.take_all();
    CHECK(two.values() == std::vector<uint64_t>{1, 2});
    CHECK(two.first.records.late() == 0);
}

TEST_CASE("a record that is never completed holds the others up for a second only",
          "[nsbpf][cpu_records]")
{
    Two two;
    two.first.line = {};
    for (uint64_t i = 0; i < 4; ++i) // a tick for each microsecond: here, a second is a million
        two.first.line.add({i, kBaseNs + i * 1000, 1});
    two.first.write(1, kBaseNs, false);
    two.second.write(2, kBaseNs);
    two.first.records.pass(two.first.pipe, two.first.line);
    const uint64_t begin = nsbpf::read_ticks();
    while (nsbpf::read_ticks() - begin < 1'100'000)
        ;
    two.first.records.pass(two.first.pipe, two.first.line);
    CHECK(two.values() == std::vector<uint64_t>{2});
}

TEST_CASE("a record that has just been written waits for an earlier one of another ring",
          "[nsbpf][cpu_records]")
{
    Two two;
    make_now_late(two);
    two.second.write(2, kBaseNs + 500000); // a program was interrupted between clock and claim
    two.first.records.pass(two.first.pipe, two.first.line);
    CHECK(two.values().empty());
    two.first.write(1, kBaseNs + 400000);
    two.first.take_all();
    CHECK(two.values() == std::vector<uint64_t>{1, 2});
}

TEST_CASE("a record that is too late for its place is counted and its time raised",
          "[nsbpf][cpu_records]")
{
    Two two;
    two.second.write(2, kBaseNs + 20);
    two.first.take_all();
    two.first.write(1, kBaseNs + 10);
    two.first.take_all();
    const std::vector<Chunk> chunks = two.first.chunks();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[1].words[0] == chunks[0].words[0]);
    CHECK(two.first.records.late() == 1);
}

TEST_CASE("losses of each ring are in the chunks' sum, and counts equal", "[nsbpf][cpu_records]")
{
    Two two;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 200; ++i)
        refused += !two.second.write(i, kBaseNs + i);
    two.first.write(1, kBaseNs + 1000);
    two.first.take_all();
    two.second.write(2, kBaseNs + 2000);
    two.first.take_all();
    const std::vector<Chunk> chunks = two.first.chunks();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].header.lost_before == 0);
    CHECK(chunks[1].header.lost_before == refused);
    CHECK(chunks[1].header.sequence == 1);
    const nslice_file_footer_cpu row = two.first.records.row();
    CHECK(row.issued == 202);
    CHECK(row.lost[NSLICE_LOST_FULL] == refused);
    CHECK(row.issued == row.drained + lost_sum(row));
}

TEST_CASE("counts of a ring that was removed are kept", "[nsbpf][cpu_records]")
{
    Two two;
    two.second.write(1, kBaseNs);
    two.first.records.pass(two.first.pipe, two.first.line);
    two.first.records.remove(*two.second.reader, two.first.line);
    two.second.reader.reset();
    two.first.write(2, kBaseNs + 1);
    two.first.take_all();
    CHECK(two.values() == std::vector<uint64_t>{1, 2});
    CHECK(two.first.records.row().drained == 2);
    CHECK(two.first.records.row().issued == 2);
}

TEST_CASE("a ring that is removed gives what is complete, and the rest is lost as torn",
          "[nsbpf][cpu_records]")
{
    Two two;
    two.second.write(1, kBaseNs);
    two.first.records.pass(two.first.pipe, two.first.line);
    two.second.write(2, kBaseNs + 1); // since the ring was drained
    two.second.write(3, kBaseNs + 2, false);
    two.second.write(4, kBaseNs + 3);
    two.first.records.remove(*two.second.reader, two.first.line);
    two.second.reader.reset();
    two.first.take_all();
    CHECK(two.values() == std::vector<uint64_t>{1, 2});
    const nslice_file_footer_cpu row = two.first.records.row();
    CHECK(row.issued == 4);
    CHECK(row.drained == 2);
    CHECK(row.lost[NSLICE_LOST_TORN] == 2);
}

TEST_CASE("a malformed ring that is removed has every record accounted for", "[nsbpf][cpu_records]")
{
    Two two;
    two.second.write(1, kBaseNs, false);
    two.second.write(2, kBaseNs);
    two.first.records.pass(two.first.pipe, two.first.line);
    two.second.ring->head += uint64_t{1} << 31;
    two.first.records.pass(two.first.pipe, two.first.line);
    REQUIRE(two.second.reader->is_malformed());
    two.first.records.remove(*two.second.reader, two.first.line);
    const nslice_file_footer_cpu row = two.first.records.row();
    CHECK(row.issued == 2);
    CHECK(row.issued == row.drained + lost_sum(row));
}

TEST_CASE("a ring with impossible positions gives nothing more", "[nsbpf][cpu_records]")
{
    Two two;
    two.second.write(1, kBaseNs);
    two.first.take_all();
    two.second.ring->head += uint64_t{1} << 31;
    two.first.write(2, kBaseNs + 1);
    two.first.take_all();
    CHECK(two.second.reader->is_malformed());
    CHECK(two.values() == std::vector<uint64_t>{1, 2});
    const nslice_file_footer_cpu row = two.first.records.row();
    CHECK(row.issued == row.drained + lost_sum(row));
}
