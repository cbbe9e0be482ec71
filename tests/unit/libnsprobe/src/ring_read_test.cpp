// SPDX-License-Identifier: MIT
// The reader's side of a ring: only whole records, whatever the ring claims.
#include "ring_fixture.hpp"

TEST_CASE("a span ends at the last record that fits", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        for (unsigned i = 0; i < 10; ++i)
            rings.push(i, 3); // 40 bytes each
        const nslice_span span =
            nsp_ring_span(&rings.ring(), Rings::kBytes, 0, rings.ring().head, 130);
        CHECK(span.records == 3);
        CHECK(span.words == 15);
    }
}

TEST_CASE("the end of a span of plain heads is found without reading them", "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        for (unsigned i = 0; i < 100; ++i)
            rings.push(i);
        const nslice_span span =
            nsp_ring_span(&rings.ring(), Rings::kBytes, 0, rings.ring().head, 72);
        CHECK(span.records == 4);
        CHECK(span.words == 8);
    }
}

TEST_CASE("a record that wraps around the end of the ring is read in one piece",
          "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind);
        while (rings.used_units() + 8 <= Rings::kUnits - 4)
            rings.push(1, 6);
        while (rings.used_units() + 2 <= Rings::kUnits - 4)
            rings.push(1);
        rings.take();
        rings.push(0x1122334455667788, 6); // begins 4 units before the end
        CHECK(rings.take() == std::vector<uint64_t>{0x1122334455667788});
    }
}

TEST_CASE("an atomic ring is read up to the first unfinished record", "[libnsprobe][ring]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    for (unsigned i = 0; i < 6; ++i)
        rings.push(i, 1);
    auto *third =
        static_cast<uint64_t *>(const_cast<void *>(nsp_ring_data(&rings.ring(), Rings::kBytes, 6)));
    const uint64_t whole = third[1];
    third[1] = 0;
    CHECK(rings.take() == std::vector<uint64_t>{0, 1});
    CHECK(rings.take().empty());
    third[1] = whole;
    CHECK(rings.take() == std::vector<uint64_t>{2, 3, 4, 5});
}

TEST_CASE("lengths that point out of the ring are not followed", "[libnsprobe][ring]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    auto *data =
        static_cast<uint64_t *>(const_cast<void *>(nsp_ring_data(&rings.ring(), Rings::kBytes, 0)));
    data[1] = uint64_t{NSLICE_KIND_MARK} << 48 |
              7ull << 56; // more words than the two units that were committed
    rings.ring().head = NSLICE_POSITION_STEP(2);
    const nslice_span span =
        nsp_ring_span(&rings.ring(), Rings::kBytes, 0, rings.ring().head, 1 << 18);
    CHECK(span.words == 0);
    CHECK(span.records == 0);
}

TEST_CASE("a span that a writer has dropped in the meantime cannot be consumed",
          "[libnsprobe][ring]")
{
    for (const auto kind : ring_kinds()) {
        Rings rings(kind, NSLICE_FULL_OVERWRITE);
        for (unsigned i = 0; i < Rings::kUnits / 4; ++i)
            rings.push(i, 2);
        const uint64_t tail = rings.ring().tail;
        const nslice_span span =
            nsp_ring_span(&rings.ring(), Rings::kBytes, tail, rings.ring().head, 1 << 18);
        rings.push(1000, 2); // drops an eighth of the ring
        CHECK(nsp_ring_consume(&rings.ring(), Rings::kBytes, tail, span) == 0);
        CHECK(rings.lost(NSLICE_LOST_OVERWRITTEN) + rings.used_records() == Rings::kUnits / 4 + 1);
    }
}
