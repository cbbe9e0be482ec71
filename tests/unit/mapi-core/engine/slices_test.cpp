// SPDX-License-Identifier: MIT
// Slices: a process that keeps creating and closing flows has one slice for each function.
#include "support/catch.hpp"

#include "engine/packet_path/slices.hpp"

using mapi::engine::slice_of;

#ifndef NETSLICE_DISABLE
TEST_CASE("a function has one slice, however often it is applied", "[mapi-core][engine]")
{
    CHECK(slice_of("A_FUNCTION") != nullptr);
    CHECK(slice_of("A_FUNCTION") == slice_of("A_FUNCTION"));
    CHECK(slice_of("A_FUNCTION") != slice_of("ANOTHER"));
}
#endif
