// SPDX-License-Identifier: MIT
// The writer's side of a ring: free room, refusal, overwriting, and positions past 2^32 units.
#include "ring_fixture.hpp"

#include <numeric>
#include <set>

TEST_CASE("a full ring refuses the record and counts the loss", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        for (unsigned i = 0; i < Rings::kUnits / 4; ++i)
            rings.push(i, 2);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 0);
        CHECK(rings.used_units() == Rings::kUnits);
        rings.push(1000, 2);
        rings.push(1001);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 2);
        CHECK(rings.used_records() == Rings::kUnits / 4);
        std::vector<uint64_t> expected(Rings::kUnits / 4);
        std::iota(expected.begin(), expected.end(), 0);
        CHECK(rings.take() == expected);
        rings.push(5, 1);
        CHECK(rings.take() == std::vector<uint64_t>{5});
    }
}

TEST_CASE("a record larger than the free room is refused while a smaller one still fits",
          "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        while (rings.used_units() + 8 <= Rings::kUnits)
            rings.push(1, 6);
        rings.take(4 * 8); // shorter than the first record: nothing is taken
        CHECK(rings.used_units() == Rings::kUnits);
        rings.take(8 * 8);
        rings.push(2, 3);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 0);
        rings.push(3, 6);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 1);
        rings.push(4, 1);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 1);
        CHECK(rings.used_units() == Rings::kUnits);
    }
}

TEST_CASE("policy overwrite drops the oldest records and counts each", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind, NSLICE_FULL_OVERWRITE);
        constexpr unsigned kWritten = 10000;
        for (unsigned i = 0; i < kWritten; ++i)
            rings.push(i, 1 + i % 5);
        const uint64_t kept = rings.used_records();
        CHECK(rings.lost(NSLICE_LOST_OVERWRITTEN) + kept == kWritten);
        CHECK(rings.lost(NSLICE_LOST_FULL) == 0);
        CHECK(rings.lost(NSLICE_LOST_BUSY) == 0);
        const auto values = rings.take();
        REQUIRE(values.size() == kept);
        for (size_t i = 0; i < values.size(); ++i)
            REQUIRE(values[i] == kWritten - kept + i);
    }
}

TEST_CASE("positions pass 2^32 units without an error in either count", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds())
        for (const auto full : {NSLICE_FULL_DISCARD, NSLICE_FULL_OVERWRITE})
            for (const uint64_t start :
                 {0xfffffff0ull, 0x7ffffff0ull, 0x12345678ffffff00ull, 0xfffffffffffffff0ull}) {
                Rings rings(kind, full);
                rings.begin_at(start);
                for (unsigned i = 0; i < 400; ++i) {
                    rings.push(i, 1 + i % 6);
                    if (i % 20 == 19 && full == NSLICE_FULL_DISCARD) {
                        const auto values = rings.take();
                        REQUIRE(values.size() == 20);
                        REQUIRE(values.front() == i - 19);
                        REQUIRE(values.back() == i);
                    }
                }
                const auto passed = rings.ring().head - start;
                CHECK(NSLICE_POSITION_RECORDS(passed) == 400);
                CHECK(rings.lost(NSLICE_LOST_FULL) == 0);
                CHECK(rings.lost(NSLICE_LOST_OVERWRITTEN) + rings.used_records() ==
                      (full == NSLICE_FULL_OVERWRITE ? 400 : 0));
            }
}

TEST_CASE("a full ring refuses on both sides of 2^31 and 2^32", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds())
        for (const uint64_t start :
             {0xffffffff - Rings::kUnits / 2ull, 0x7fffffff - Rings::kUnits / 2ull}) {
            Rings rings(kind);
            rings.begin_at(start & ~1ull);
            for (unsigned i = 0; i < Rings::kUnits; ++i)
                rings.push(i);
            CHECK(rings.used_records() == Rings::kUnits / 2);
            CHECK(rings.lost(NSLICE_LOST_FULL) == Rings::kUnits / 2);
        }
}

TEST_CASE("a closed ring takes no record and counts it under closing", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds())
        for (const auto full : {NSLICE_FULL_DISCARD, NSLICE_FULL_OVERWRITE}) {
            Rings rings(kind, full);
            rings.push(1, 1);
            nsp_ring_refuse(&rings.ring());
            rings.push(2, 1);
            rings.push(3, 6);
            CHECK(rings.lost(NSLICE_LOST_CLOSED) == 2);
            CHECK(rings.take() == std::vector<uint64_t>{1});
            rings.push(4, 1);
            CHECK(rings.lost(NSLICE_LOST_CLOSED) == 3);
        }
}

TEST_CASE("a paused ring counts records as left out, and takes them again when it continues",
          "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        rings.push(1, 1);
        nsp_ring_pause(&rings.ring());
        rings.push(2, 1);
        rings.push(3, 6);
        nsp_ring_resume(&rings.ring());
        rings.push(4, 1);
        CHECK(rings.take() == std::vector<uint64_t>{1, 4});
        CHECK(rings.ring().lost[NSLICE_LEFT_OUT_PAUSED] == 2);
        CHECK(rings.lost(NSLICE_LOST_CLOSED) == 0);
    }
}

TEST_CASE("a ring that is closed while it is paused does not go on", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        nsp_ring_pause(&rings.ring());
        nsp_ring_refuse(&rings.ring());
        nsp_ring_resume(&rings.ring());
        rings.push(1, 1);
        CHECK(rings.take().empty());
        CHECK(rings.lost(NSLICE_LOST_CLOSED) == 1);
    }
}

TEST_CASE("a refusal's limit is that of no refusal before it, wherever the head is",
          "[libnsprobe][ring]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    std::set<uint32_t> limits;
    const auto is_new = [&] { return limits.insert(rings.ring().limit).second; };
    for (uint64_t records = 0; records < 3; ++records)
        for (int pauses = 0; pauses < 3; ++pauses) {
            nsp_ring_pause(&rings.ring());
            CHECK(is_new());
            nsp_ring_resume(&rings.ring());
            for (uint64_t i = 0; i < records; ++i)
                rings.push(i);
        }
    nsp_ring_pause(&rings.ring());
    CHECK(is_new());
    nsp_ring_resume(&rings.ring());
    nsp_ring_refuse(&rings.ring()); // before a writer has replaced the limit of the pause
    CHECK(is_new());
    const uint32_t used = rings.used_records();
    rings.push(1);
    CHECK(rings.used_records() == used);
}

TEST_CASE("a refusing limit is behind the head at any position", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds())
        for (const uint32_t position :
             {0u, 1u, 0xffffu, 0x3fffffffu, 0x40000001u, 0x80000000u, 0xffff0001u, 0xffffffffu}) {
            Rings rings(kind);
            rings.begin_at(position);
            nsp_ring_pause(&rings.ring());
            rings.push(1, 6);
            CHECK(rings.used_records() == 0);
            nsp_ring_resume(&rings.ring());
            rings.push(2, 1);
            CHECK(rings.used_records() == 1);
        }
}

TEST_CASE("an atomic ring whose oldest record is unfinished counts new ones as lost to busy",
          "[libnsprobe][ring]")
{
    Rings rings(NSLICE_RING_ATOMIC, NSLICE_FULL_OVERWRITE);
    for (unsigned i = 0; i < Rings::kUnits / 4; ++i)
        rings.push(i, 2);
    auto *oldest = static_cast<uint64_t *>(
        const_cast<void *>(nsp_ring_data(&rings.ring(), Rings::kBytes, rings.ring().tail)));
    const uint64_t whole = oldest[1];
    oldest[1] = 0; // as if its writer were still writing it
    rings.push(1000, 2);
    CHECK(rings.lost(NSLICE_LOST_BUSY) == 1);
    CHECK(rings.lost(NSLICE_LOST_OVERWRITTEN) == 0);
    oldest[1] = whole;
    rings.push(1001, 2);
    CHECK(rings.lost(NSLICE_LOST_BUSY) == 1);
    CHECK(rings.lost(NSLICE_LOST_OVERWRITTEN) > 0);
}
