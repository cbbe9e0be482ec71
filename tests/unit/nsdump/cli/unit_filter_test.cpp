// SPDX-License-Identifier: MIT
#include "cli/unit_filter.hpp"

#include "support/catch.hpp"

namespace
{
nsdump::Event event(std::uint8_t kind, std::uint32_t thread, const std::uint64_t *words = nullptr)
{
    return {0, words, thread, 0, 1, kind, static_cast<std::uint8_t>(words ? 3 : 0)};
}
} // namespace

TEST_CASE("a unit is what lies between its INIT and EXIT on its thread", "[nsdump][unit]")
{
    const std::uint64_t first[] = {1, 64, 0};
    const std::uint64_t second[] = {2, 64, 0};
    nsdump::UnitFilter filter(2);
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_INIT, 7, first)));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7)));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_EXIT, 7)));
    CHECK(filter.contains(event(NSLICE_KIND_INIT, 7, second)));
    CHECK(filter.contains(event(NSLICE_KIND_START, 7)));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 8)));
    CHECK(filter.contains(event(NSLICE_KIND_EXIT, 7)));
    CHECK_FALSE(filter.contains(event(NSLICE_KIND_START, 7)));
}
