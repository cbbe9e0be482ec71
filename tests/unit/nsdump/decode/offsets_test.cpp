// SPDX-License-Identifier: MIT
#include "decode/offsets.hpp"
#include "support/catch.hpp"

TEST_CASE("offsets in a file are returned as they were stored, small and large",
          "[nsdump][offsets]")
{
    const uint64_t places[] = {
        64, 128, 208, 208 + 8 * 127, 208 + 8 * 255, 1 << 20, uint64_t{1} << 40, ~uint64_t{7}};
    nsdump::Offsets offsets;
    for (const uint64_t place : places)
        offsets.add(place);
    nsdump::Offsets::Reader reader(offsets);
    uint64_t got = 0;
    for (const uint64_t place : places) {
        REQUIRE(reader.next(got));
        CHECK(got == place);
    }
    CHECK_FALSE(reader.next(got));
}
