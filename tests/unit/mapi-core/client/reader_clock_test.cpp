// SPDX-License-Identifier: MIT
// Reader clock: how close it is to the kernel's.
#include "client/reader_clock.hpp"

#include <algorithm>
#include <thread>

#include "engine/wall_clock.hpp"
#include "support/catch.hpp"

using mapi::client::ReaderClock;

TEST_CASE("a clock that was never read has to read the kernel's", "[mapi-core][client]")
{
    const ReaderClock clock;
    uint64_t us = 0;
    CHECK_FALSE(clock.try_now(us));
}

TEST_CASE("between two reads of the kernel's clock, the time differs from it by a few microseconds",
          "[mapi-core][client]")
{
    ReaderClock clock;
    uint64_t read = 0, looks = 0, off = 0;
    for (const uint64_t end = mapi::engine::now_us() + 300000; mapi::engine::now_us() < end;) {
        uint64_t us = 0;
        const uint64_t before = mapi::engine::now_us();
        if (!clock.try_now(us)) {
            clock.look();
            ++looks;
            continue;
        }
        const uint64_t after = mapi::engine::now_us();
        ++read;
        off += us + 20 < before || us > after + 20;
    }
    REQUIRE(read > 0);
    CHECK(looks > 0);
    CHECK(off <= read / 1000);
}

TEST_CASE("after a pause, the previous rate is not used", "[mapi-core][client]")
{
    ReaderClock clock;
    uint64_t us = 0;
    for (const uint64_t end = mapi::engine::now_us() + 50000;
         mapi::engine::now_us() < end && !clock.try_now(us);)
        clock.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK_FALSE(clock.try_now(us));
    clock.look();
    CHECK_FALSE(clock.try_now(us));
}
