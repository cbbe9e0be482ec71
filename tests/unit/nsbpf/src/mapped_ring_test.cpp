// SPDX-License-Identifier: MIT
// Records in memory that stands for the programs' map -> chunks, and sums of what was lost.
#include <csignal>
#include <vector>

#include "ring_rig.hpp"

using namespace nsbpf_test;

TEST_CASE("records become one chunk, with their times in ticks", "[nsbpf][mapped_ring]")
{
    Rig rig;
    for (uint64_t i = 0; i < 5; ++i)
        rig.write(100 + i, kBaseNs + 10 * i);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].header.kind == NSLICE_CHUNK_KERNEL_RECORDS);
    CHECK(chunks[0].header.cpu == 1);
    CHECK(chunks[0].header.records == 5);
    CHECK(chunks[0].header.lost_before == 0);
    for (uint64_t i = 0; i < 5; ++i) {
        CHECK(chunks[0].words[3 * i] == 20 * i);
        CHECK(chunks[0].words[3 * i + 2] == 100 + i);
    }
    CHECK(chunks[0].header.first_ticks == 0);
    CHECK(rig.ring->tail == rig.ring->head);
}

TEST_CASE("a record across the end of the ring is whole", "[nsbpf][mapped_ring]")
{
    Rig rig;
    uint64_t next = 0;
    for (int round = 0; round < 20; ++round) { // 512 words, 3 for each record
        for (int i = 0; i < 100; ++i)
            REQUIRE(rig.write(next++));
        rig.take_all();
    }
    uint64_t value = 0;
    for (const Chunk &chunk : rig.chunks())
        for (size_t at = 2; at < chunk.words.size(); at += 3)
            REQUIRE(chunk.words[at] == value++);
    CHECK(value == next);
    CHECK(rig.records.row().issued == next);
    CHECK(rig.records.row().drained == next);
}

TEST_CASE("a chunk ends where records were lost, and the next one says how many",
          "[nsbpf][mapped_ring]")
{
    Rig rig;
    uint64_t written = 0, refused = 0;
    for (int i = 0; i < 200; ++i)
        (rig.write(uint64_t(i)) ? written : refused) += 1;
    rig.take_all();
    for (int i = 0; i < 10; ++i)
        rig.write(1000);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 2);
    CHECK(chunks[0].header.records == written);
    CHECK(chunks[0].header.lost_before == 0);
    CHECK(chunks[1].header.records == 10);
    CHECK(chunks[1].header.lost_before == refused);
    const nslice_file_footer_cpu row = rig.records.row();
    CHECK(row.issued == 210);
    CHECK(row.lost[NSLICE_LOST_FULL] == refused);
    CHECK(row.issued == row.drained + lost_sum(row));
}

TEST_CASE("what follows an incomplete record waits for it", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1);
    const uint64_t incomplete = rig.ring->head;
    rig.write(2, kBaseNs, false);
    rig.write(3);
    rig.take_all();
    CHECK(rig.chunks().at(0).header.records == 1);
    CHECK(rig.reader->pending() == 2);

    rig.complete_at(incomplete);
    rig.take_all();
    CHECK(rig.chunks().at(0).header.records == 2);
    CHECK(rig.reader->pending() == 0);
}

TEST_CASE("records that are never complete are lost as torn", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1);
    rig.write(2, kBaseNs, false);
    rig.write(3);
    rig.take_all();
    rig.reader->settle();

    const nslice_file_footer_cpu row = rig.records.row();
    CHECK(row.issued == 3);
    CHECK(row.drained == 1);
    CHECK(row.lost[NSLICE_LOST_TORN] == 2);
}

TEST_CASE("a new reader sees whether a writer is in the middle of a record", "[nsbpf][mapped_ring]")
{
    Rig rig;
    CHECK_FALSE(rig.reader->was_used());
    rig.write(1);
    CHECK(rig.reader->was_used());
    CHECK_FALSE(rig.reader->has_incomplete());
    const uint64_t incomplete = rig.ring->head;
    rig.write(2, kBaseNs, false);
    rig.write(3);
    CHECK(rig.reader->has_incomplete());
    rig.complete_at(incomplete);
    CHECK_FALSE(rig.reader->has_incomplete());
}

TEST_CASE("times never go back within a ring", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1, kBaseNs + 1000);
    rig.write(2, kBaseNs + 999); // as two lines of two passes may have it
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    CHECK(chunks.at(0).words[0] == 2000);
    CHECK(chunks.at(0).words[3] == 2000);
}

TEST_CASE("what was written or lost before the beginning does not count", "[nsbpf][mapped_ring]")
{
    Rig rig;
    for (int i = 0; i < 200; ++i)
        rig.write(1);
    rig.reader->begin();
    rig.write(2);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].header.records == 1);
    CHECK(chunks[0].header.lost_before == 0);
    CHECK(rig.records.row().issued == 1);
    CHECK(lost_sum(rig.records.row()) == 0);
}

TEST_CASE("what is written or lost after the end does not count", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1);
    rig.reader->end();
    for (int i = 0; i < 200; ++i)
        rig.write(2);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].words[2] == 1);
    CHECK(rig.records.row().issued == 1);
    CHECK(lost_sum(rig.records.row()) == 0);
}

TEST_CASE("records that nobody reads any more are lost in writing", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.pipe.close_reader();
    rig.write(1);
    rig.write(2);
    signal(SIGPIPE, SIG_IGN); // the recorder's thread blocks it
    rig.take_all();

    const nslice_file_footer_cpu row = rig.records.row();
    CHECK(row.drained == 0);
    CHECK(row.lost[NSLICE_LOST_WRITE] == 2);
    CHECK(row.issued == 2);
}

TEST_CASE("what a program has forged is lost as torn, and the rest of its records are kept",
          "[nsbpf][mapped_ring]")
{
    Rig rig;
    nsbpf::OwnSites own(kId);
    own.add(kMark);
    rig.reader->expect(own);
    rig.write(1);
    for (const uint64_t other_id : {kId + uint64_t{1}, uint64_t{0xffff}}) {
        rig.write(2);
        rig.second_of_newest() |= other_id << NSLICE_HEAD_SLICE_SHIFT;
    }
    for (const uint64_t wrong :
         {uint64_t{8} << NSLICE_HEAD_COUNT_SHIFT, // the mask of a ring hides it
          uint64_t{8} << NSLICE_HEAD_KIND_SHIFT}) {
        rig.write(3);
        rig.second_of_newest() |= wrong;
    }
    rig.write(4);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 1);
    REQUIRE(chunks[0].words.size() == 6);
    CHECK(chunks[0].words[2] == 1);
    CHECK(chunks[0].words[5] == 4);
    CHECK(rig.records.row().issued == 6);
    CHECK(rig.records.row().drained == 2);
    CHECK(rig.records.row().lost[NSLICE_LOST_TORN] == 4);
    CHECK(rig.records.foreign() == 4);
}

TEST_CASE("records of sites of other programs are foreign, also those of another kind",
          "[nsbpf][mapped_ring]")
{
    constexpr uint64_t kFirst = 0xf100, kOwn = kFirst + 7;
    const auto site = [](uint64_t id, uint64_t kind, uint64_t words) {
        return id << NSLICE_HEAD_SLICE_SHIFT | kind << NSLICE_HEAD_KIND_SHIFT |
               words << NSLICE_HEAD_COUNT_SHIFT;
    };
    nsbpf::OwnSites own(kFirst);
    CHECK_FALSE(own.has(site(kFirst, NSLICE_KIND_START, 0)));
    own.add(site(kOwn, NSLICE_KIND_START, 0));
    own.add(site(kOwn + 2, NSLICE_KIND_INIT, NSLICE_INIT_WORDS));
    CHECK(own.has(site(kOwn, NSLICE_KIND_START, 0) | 77));
    CHECK(own.has(site(kOwn + 2, NSLICE_KIND_INIT, NSLICE_INIT_WORDS) | UINT32_MAX));
    for (const uint64_t other : {uint64_t{0}, uint64_t{1}, kFirst - 1, kFirst, kOwn - 1, kOwn + 1,
                                 kOwn + 2, kOwn + 3, uint64_t{0xffff}})
        CHECK_FALSE(own.has(site(other, NSLICE_KIND_START, 0) | 77));
    CHECK_FALSE(own.has(site(kOwn, NSLICE_KIND_STOP, 0)));
    CHECK_FALSE(own.has(site(kOwn, NSLICE_KIND_START, 1)));
    CHECK_FALSE(own.has(site(kOwn, NSLICE_KIND_START, 8)));
}

TEST_CASE("a program's time is at most now, so that nothing waits for it", "[nsbpf][mapped_ring]")
{
    Rig rig;
    nsbpf::OwnSites own(kId);
    own.add(kMark);
    rig.reader->expect(own);
    rig.write(1, UINT64_MAX / 4);
    rig.take_all();

    const std::vector<Chunk> chunks = rig.chunks();
    REQUIRE(chunks.size() == 1);
    CHECK(chunks[0].words[0] <= nsbpf::read_ticks());
}

TEST_CASE("a position with more records than its words have room for ends a ring",
          "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1);
    rig.ring->head += uint64_t{5} << 32;
    rig.take_all();

    CHECK(rig.reader->is_malformed());
    const nslice_file_footer_cpu row = rig.records.row();
    CHECK(row.issued == row.drained + lost_sum(row));
}

TEST_CASE("a count of losses that a program has overwritten is ignored", "[nsbpf][mapped_ring]")
{
    Rig rig;
    rig.write(1);
    rig.ring->lost[NSLICE_LOST_FULL] = UINT64_MAX - 5;
    rig.take_all();

    CHECK(rig.records.row().issued == 1);
    CHECK(lost_sum(rig.records.row()) == 0);
}
