// SPDX-License-Identifier: MIT
// Whose turn it is to measure the cost of functions in the kernel.
#include "daemon/session/cost_turns.hpp"

#include <optional>

#include "engine/error.hpp"
#include "support/catch.hpp"

using mapi::daemon::CostTurns;
using mapi::daemon::Peer;
using namespace std::chrono_literals;

namespace
{
const Peer kRoot = {1, 0, {0}};
const Peer kUser = {1, 65534, {65534}};
const CostTurns::Clock::time_point kBegin{1h};
} // namespace

TEST_CASE("one cost is measured at a time", "[mapi-core][daemon]")
{
    CostTurns turns;
    {
        const auto turn = turns.begin(kRoot, 1s, kBegin);
        CHECK_THROWS_AS(turns.begin(kRoot, 1s, kBegin), mapi::Error);
        CHECK_THROWS_AS(turns.begin(kUser, 1s, kBegin), mapi::Error);
    }
    CHECK_NOTHROW(turns.begin(kUser, 1s, kBegin));
}

TEST_CASE("users measure for a tenth of the time, operators as often as they like",
          "[mapi-core][daemon]")
{
    CostTurns turns;
    for (int i = 0; i < 10; ++i)
        CHECK_NOTHROW(turns.begin(kUser, 1s, kBegin));
    CHECK_THROWS_AS(turns.begin(kUser, 1s, kBegin), mapi::Error);
    CHECK_THROWS_AS(turns.begin(kUser, 1s, kBegin + 9s), mapi::Error);
    CHECK_NOTHROW(turns.begin(kRoot, 10s, kBegin + 9s));
    CHECK_NOTHROW(turns.begin(kUser, 1s, kBegin + 11s));
    CHECK_THROWS_AS(turns.begin(kUser, 1s, kBegin + 12s), mapi::Error);
}

TEST_CASE("a refused measurement leaves the turn to others", "[mapi-core][daemon]")
{
    CostTurns turns;
    CHECK_THROWS_AS(turns.begin(kUser, 11s, kBegin), mapi::Error);
    CHECK_NOTHROW(turns.begin(kUser, 10s, kBegin));
}
