// SPDX-License-Identifier: MIT
#include "analyse/unit_filter.hpp"

#include "support/catch.hpp"

namespace
{
nsdump::Event event(uint8_t kind, uint32_t thread, const uint64_t *words = nullptr)
{
    return {0, thread, 1, kind, uint8_t(words ? 3 : 0), words, 0};
}
} // namespace

TEST_CASE("a unit is what lies between INIT and EXIT on its thread", "[nsdump][unit]")
{
    const uint64_t first[] = {1, 64, 0};
    const uint64_t second[] = {2, 64, 0};
    nsdump::UnitFilter filter(2);
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_INIT, 7, first), 3, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7), 3, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_EXIT, 7), 3, false));
    CHECK(filter.contains(event(NSLICE_KIND_INIT, 7, second), 3, false));
    CHECK(filter.contains(event(NSLICE_KIND_START, 7), 3, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 8), 3, false));
    CHECK(filter.contains(event(NSLICE_KIND_EXIT, 7), 3, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7), 3, false));
}

TEST_CASE("a nested unit belongs to the enclosing one, and a lost EXIT ends at the next INIT",
          "[nsdump][unit]")
{
    const uint64_t batch[] = {2, 64, 0};
    const uint64_t packet[] = {9, 1, 0};
    const uint64_t next[] = {3, 64, 0};
    nsdump::UnitFilter filter(2);
    CHECK(filter.contains(event(NSLICE_KIND_INIT, 7, batch), 3, false));
    CHECK(filter.contains(event(NSLICE_KIND_INIT, 7, packet), 4, false));
    CHECK(filter.contains(event(NSLICE_KIND_EXIT, 7), 4, false));
    CHECK(filter.contains(event(NSLICE_KIND_START, 7), 5, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_INIT, 7, next), 3, false));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7), 5, false));
}

TEST_CASE("idle threads of two CPUs have separate units, and so do a thread and the kernel in it",
          "[nsdump][unit]")
{
    const uint64_t packet[] = {2, 1, 0};
    nsdump::UnitFilter filter(2);
    nsdump::Event init = event(NSLICE_KIND_INIT, 0, packet), start = event(NSLICE_KIND_START, 0);
    CHECK(filter.contains(init, 3, true));
    CHECK(filter.contains(start, 3, true));
    start.cpu = 1;
    CHECK_FALSE(filter.contains(start, 3, true));
    init = event(NSLICE_KIND_INIT, 7, packet);
    CHECK(filter.contains(init, 3, true));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7), 3, false));
}
