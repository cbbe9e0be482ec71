// SPDX-License-Identifier: MIT
// Where losses are: a chunk ends there, and the next one's header has their number.
#include "support/catch.hpp"

extern "C" {
#include <nslice/gaps.h>
}

namespace
{
// Position after this many records of two units each.
constexpr uint64_t at(uint64_t records)
{
    return (records << 32) + 2 * records;
}
} // namespace

TEST_CASE("a chunk ends where records were lost, and the next one begins with their number",
          "[libnsprobe][gaps]")
{
    nslice_gaps gaps{};
    nslice_gaps_note(&gaps, 0, at(5)); // nothing lost: nothing to note
    CHECK(gaps.count == 0);
    nslice_gaps_note(&gaps, 3, at(10));
    CHECK(nslice_gaps_limit(&gaps, at(0), at(20)) == at(10));
    CHECK(gaps.passed == 0);
    CHECK(nslice_gaps_limit(&gaps, at(10), at(20)) == at(20));
    CHECK(gaps.passed == 3);
}

TEST_CASE("losses at one place are one gap", "[libnsprobe][gaps]")
{
    nslice_gaps gaps{};
    nslice_gaps_note(&gaps, 3, at(10));
    nslice_gaps_note(&gaps, 8, at(10));
    CHECK(gaps.count == 1);
    CHECK(nslice_gaps_limit(&gaps, at(10), at(20)) == at(20));
    CHECK(gaps.passed == 8);
}

TEST_CASE("a gap that the tail has passed does not hide the later ones", "[libnsprobe][gaps]")
{
    nslice_gaps gaps{};
    nslice_gaps_note(&gaps, 1, at(10));
    nslice_gaps_note(&gaps, 5, at(30));
    CHECK(nslice_gaps_limit(&gaps, at(20), at(40)) == at(30));
    CHECK(gaps.passed == 1);
    CHECK(nslice_gaps_limit(&gaps, at(30), at(40)) == at(40));
    CHECK(gaps.passed == 5);
}

TEST_CASE("gaps beyond the size of the list keep their losses", "[libnsprobe][gaps]")
{
    nslice_gaps gaps{};
    for (uint64_t i = 1; i <= NSLICE_MAX_GAPS + 10; ++i)
        nslice_gaps_note(&gaps, i, at(10 * i));
    CHECK(gaps.count == NSLICE_MAX_GAPS);
    uint64_t tail = 0;
    while (tail != at(2000))
        tail = nslice_gaps_limit(&gaps, tail, at(2000));
    CHECK(gaps.passed == NSLICE_MAX_GAPS + 10);
}
