// SPDX-License-Identifier: MIT
#include "analyse/pair/seen_names.hpp"

#include "support/catch.hpp"

TEST_CASE("a name is new once in a unit, for each field", "[nsdump][seen_names]")
{
    nsdump::SeenNames seen;
    for (int unit = 0; unit < 3; ++unit) {
        seen.clear();
        for (nsdump::NameId name = 0; name < 1000; ++name) {
            REQUIRE(seen.note(name, 1) == 1);
            REQUIRE(seen.note(name, 1) == 0);
            REQUIRE(seen.note(name, 3) == 2);
            REQUIRE(seen.note(name, 3) == 0);
        }
        for (nsdump::NameId name = 0; name < 1000; ++name)
            REQUIRE(seen.note(name, 3) == 0);
    }
}
