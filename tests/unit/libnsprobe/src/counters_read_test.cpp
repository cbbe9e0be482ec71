// SPDX-License-Identifier: MIT
// The self-monitoring protocol of perf's page, as implemented in C.
#include "counter_fixture.hpp"

TEST_CASE("a counter is its page's offset plus the register that the one-based index names",
          "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.pages[0].index = 3;
    protocol.pages[0].offset = 1000;
    stand_in.value = [](int) { return 234u; };
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word == 1234);
    CHECK(stand_in.last_index == 2);
    CHECK(stand_in.reads == 1);
}

TEST_CASE("fixed counters keep the bit that marks them", "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.pages[0].index = (1u << 30) + 1;
    stand_in.value = [](int) { return 5u; };
    REQUIRE(protocol.read() == 1);
    CHECK(stand_in.last_index == 1u << 30);
}

TEST_CASE("a register narrower than 64 bits is sign-extended", "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.pages[0].index = 1;
    for (const unsigned width : {32u, 40u, 48u, 64u}) {
        CAPTURE(width);
        protocol.pages[0].pmc_width = uint16_t(width);
        protocol.pages[0].offset = 1 << 20;
        stand_in.value = [width](int) {
            return (~0ull - 99) & (~0ull >> (64 - width));
        }; // -100 in this many bits
        REQUIRE(protocol.read() == 1);
        CHECK(protocol.word == (1 << 20) - 100);
    }
}

TEST_CASE("a page that changes during a read is read again", "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    auto &page = protocol.pages[0];
    page.index = 1;
    page.offset = 7;
    stand_in.value = [&page](int read) {
        if (read ==
            0) { // the thread was rescheduled between the two: another register, another offset
            page.lock += 2;
            page.index = 2;
            page.offset = 500;
            return 3ull;
        }
        return 40ull;
    };
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word == 540);
    CHECK(stand_in.last_index == 1);
}

TEST_CASE("instructions of torn reads are subtracted, each the distance of two clean reads",
          "[libnsprobe][rdpmc]")
{
    constexpr unsigned kRound = 35,
                       kBefore = 400; // instructions per reading, and before the first one
    const int torn = GENERATE(0, 1, 2, 5);
    Protocol protocol;
    auto &page = protocol.pages[0];
    page.index = 1;
    stand_in.value = [&page, torn](int read) {
        page.lock += read < torn;
        return 1ull * kBefore + kRound * unsigned(read);
    };
    const uint64_t detour = nsp_thread.counter[0].detour;
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word - (nsp_thread.counter[0].detour - detour) == kBefore);
}

TEST_CASE("while the counter has no register, the system call returns its value",
          "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.pages[0].offset = 1; // stale
    protocol.files[0].put(77, 10, 10);
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word == 77);
    CHECK(stand_in.reads == 0);
}

TEST_CASE("if user reads are disabled during a session, the system call takes over",
          "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.pages[0].index = 1;
    protocol.pages[0].cap_user_rdpmc = 0;
    protocol.files[0].put(78, 10, 10);
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word == 78);
    CHECK(stand_in.reads == 0);
}

TEST_CASE("a counter that has been descheduled gives no counter words rather than wrong ones",
          "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.files[0].end();
    CHECK(protocol.read() == 0);
}

TEST_CASE("what another file returns on the counter's reused descriptor is not taken as a value",
          "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.files[0].put(78, 10, 10, 4711);
    CHECK(protocol.read() == 0);
}

TEST_CASE("a counter that ran only part of the time is refused, not scaled", "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    stand_in.value = [](int) { return 1ull; };
    protocol.pages[0].index = 1;
    protocol.pages[0].time_enabled = 100;
    protocol.pages[0].time_running = 60;
    CHECK(protocol.read() == 0);
    protocol.pages[0].index = 0;
    protocol.files[0].put(5, 100, 60);
    CHECK(protocol.read() == 0);
}

TEST_CASE("on hybrid CPUs, the counter is the sum of both events", "[libnsprobe][rdpmc]")
{
    Protocol protocol;
    protocol.set_kinds(2);
    protocol.pages[0].index = 1; // now on this kind of core
    protocol.pages[0].offset = 100;
    protocol.pages[0].time_enabled = 50;
    protocol.pages[0].time_running = 20; // the rest of the time on the other kind
    protocol.files[1].put(4000, 50, 30);
    stand_in.value = [](int) { return 11ull; };
    REQUIRE(protocol.read() == 1);
    CHECK(protocol.word == 4111);
    protocol.files[1].end();
    CHECK(protocol.read() == 0);
}
