// SPDX-License-Identifier: MIT
// Records with counters, from the registers to the ring, as the assembly writes them or leaves them
// to C.
#include "counted_fixture.hpp"

#include <algorithm>
#include <set>

#include <sys/time.h>

namespace
{
// A counter that increases by ten on each read.
uint64_t ten_more(int read)
{
    return 10u * (unsigned(read) + 1);
}
} // namespace

TEST_CASE("START and STOP carry every counter of the session", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (uint32_t counters = 1; counters <= NSLICE_MAX_COUNTERS; ++counters)
        for (const bool ordered : {false, true}) {
            CAPTURE(counters, ordered);
            Counted counted(counters, ordered);
            Words expected(counters);
            for (uint32_t i = 0; i < counters; ++i) {
                counted.protocol.pages[i].offset = 1000 * i;
                expected[i] = 1000 * i + 5 + i;
            }
            stand_in.value = [](int) { return 5 + stand_in.last_index; };
            Counted::start();
            Counted::stop();
            CHECK(stand_in.reads >= int(2 * counters)); // more when the thread is preempted
            const auto records = counted.records();
            REQUIRE(records.size() == 2);
            CHECK(records[0].kind == NSLICE_KIND_START);
            CHECK(records[0].words == expected);
            CHECK(records[1].kind == NSLICE_KIND_STOP);
            CHECK(records[1].words == expected);
        }
}

TEST_CASE("other records carry no counters", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    stand_in.value = ten_more;
    Counted::exit();
    const auto records = counted.records();
    REQUIRE(records.size() == 1);
    CHECK(records[0].kind == NSLICE_KIND_EXIT);
    CHECK(records[0].words.empty());
}

TEST_CASE("before a thread's first START, other records read no counters", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    nsp_thread.generation = nsp_session_generation - 1;
    Counted::exit();
    CHECK(counted.records().size() == 1);
    CHECK(stand_in.reads == 0);
}

TEST_CASE("the assembly sign-extends a register of any width", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (const unsigned width : {32u, 40u, 48u, 64u}) {
        CAPTURE(width);
        Counted counted(1);
        counted.protocol.pages[0].pmc_width = uint16_t(width);
        counted.protocol.pages[0].offset = 1 << 20;
        counted.protocol.set_count(1);
        stand_in.value = [width](int) {
            return (~0ull - 99) & (~0ull >> (64 - width));
        }; // -100 in this many bits
        Counted::start();
        Counted::stop();
        CHECK(nsp_thread.counted.value[0] == (1 << 20) - 100);
        for (const Record &record : counted.records())
            CHECK(record.words == Words{(1 << 20) - 100});
    }
}

TEST_CASE("a reading that the kernel disturbed is repeated, and the extra rounds are subtracted",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    // Each round of reads advances by kRound; these are torn.
    constexpr uint64_t kRound = 100, kBegin = 7000;
    struct Case {
        std::set<int> torn;
        int rounds; // of the first record
    };
    for (const auto &[torn, rounds] :
         std::vector<Case>{{{}, 1}, {{0}, 2}, {{0, 1, 2}, 5}, {{0, 2}, 2}, {{0, 1, 3, 5, 6}, 9}}) {
        CAPTURE(torn);
        Counted counted(2);
        auto &page = counted.protocol.pages[1];
        counted.prepare([](int read) { return kRound * unsigned(read / 2); });
        const uint64_t detour = nsp_thread.counter[0].detour;
        stand_in.value = [&page, &torn = torn](int read) {
            const int round = read / 2;
            if (torn.contains(round) && read % 2 == 1) {
                page.lock += 2;
                page.index = 5;
                page.offset = 500;
            }
            return kBegin + kRound * unsigned(round);
        };
        Counted::start();
        CHECK(stand_in.reads >= 2 * rounds);
        Counted::stop();
        CHECK(stand_in.reads >= 2 * (rounds + 1));
        const uint64_t offset = torn.empty() ? 0 : 500;
        const auto records = counted.records();
        const uint64_t first = kBegin - detour;
        CHECK(records.at(0).words == Words{first, first + offset});
        CHECK(records.at(1).words == Words{first + kRound, first + kRound + offset});
    }
}

TEST_CASE("the first record after a change reads the pages, the next ones only their locks",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (uint32_t counters = 1; counters <= NSLICE_MAX_COUNTERS; ++counters)
        for (uint32_t changed = 0; changed < counters; ++changed) {
            CAPTURE(counters, changed);
            std::vector<Record> records;
            for (long before = -1; before != switches();) {
                Counted counted(counters);
                counted.prepare([](int) { return 5ull; });
                auto &page = counted.protocol.pages[changed];
                before = switches();
                page.offset = 1000; // without a new lock, which the kernel never does
                Counted::start();
                page.lock += 2;
                Counted::start();
                page.offset = 2000;
                Counted::start();
                records = counted.records();
            }
            Words expected(counters, 5);
            CHECK(records.at(0).words == expected);
            expected[changed] = 1005;
            CHECK(records.at(1).words == expected);
            CHECK(records.at(2).words == expected);
        }
}

TEST_CASE("a thread that is preempted between reading and writing reads again",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (const bool ordered : {false, true}) {
        Counted counted(3, ordered);
        counted.prepare([](int read) { return 10ull * unsigned(read / 3); });
        const uint64_t detour = nsp_thread.counter[0].detour;
        stand_in.value = [](int read) {
            if (read == 2)
                Counted::take_sequence_away();
            return 10ull * unsigned(read / 3);
        };
        for (int i = 0; i < 3; ++i)
            Counted::start();
        CHECK(stand_in.reads >= 12);
        const auto records = counted.records();
        for (unsigned i = 0; i < 3; ++i) // one round each, of which the extra one is in none
            CHECK(records.at(i).words == Words(3, 10 * i - detour));
    }
}

// Whatever happens until C reads again is not known beforehand, unlike on the other ways into C.
TEST_CASE("the values of an attempt that found no room are kept, and what follows is subtracted",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    constexpr uint64_t kValues[] = {10, 787, 1787, 1797}; // assembly; C, twice; assembly
    bool is_kept = false;
    for (int i = 0; i < 10 && !is_kept; ++i) { // a thread that is preempted there reads more often
        Counted counted(1);
        counted.prepare([](int) { return 0ull; });
        stand_in.value = [&](int read) { return kValues[std::min(read, 3)]; };
        counted.rings.ring().limit = uint32_t(counted.rings.ring().head); // there is room
        Counted::start();
        Counted::stop();
        const auto records = counted.records();
        is_kept = records.at(0).words == Words{10} && records.at(1).words == Words{20};
    }
    CHECK(is_kept);
}

TEST_CASE("a block of another state is not used, even if its pages are the same",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    counted.prepare([](int) { return 5ull; });
    counted.protocol.pages[0].offset = 100;
    Counted::start();
    nsp_counted_bind(&counted_state); // a new session, or other rings
    Counted::start();
    const auto records = counted.records();
    CHECK(records.at(0).words == Words{5, 5});
    CHECK(records.at(1).words == Words{105, 5});
}

TEST_CASE("a record interrupted by a handler has counts read after the handler ran",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (const bool is_first : {true, false}) {
        Counted counted(2);
        if (!is_first)
            counted.prepare([](int read) { return uint64_t(read); });
        const uint64_t detour = nsp_thread.counter[0].detour;
        stand_in.value = [](int read) {
            if (read == 1)
                Counted::stop();
            return 100 + uint64_t(read);
        };
        Counted::start();
        const auto records = counted.records();
        REQUIRE(records.size() == 2);
        CHECK(records[0].kind == NSLICE_KIND_STOP);
        CHECK(records[1].kind == NSLICE_KIND_START);
        if (is_first)
            CHECK(records[1].words.at(0) > records[0].words.at(1));
        else // as read, without the reads that the ways into C added
            CHECK(records[1].words.at(0) + nsp_thread.counter[0].detour >
                  records[0].words.at(1) + detour);
    }
}

TEST_CASE("a counter without a register is read by the system call into the same record",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    for (const bool is_forbidden : {false, true}) {
        CAPTURE(is_forbidden);
        Counted counted(2);
        if (is_forbidden)
            counted.protocol.pages[1].cap_user_rdpmc = 0;
        else
            counted.protocol.pages[1].index = 0;
        for (int i = 0; i < 8; ++i) // each attempt reads one
            counted.protocol.files[1].put(4711, 10, 10);
        stand_in.value = [](int) { return 3ull; };
        Counted::start();
        CHECK(counted.records().at(0).words == Words{3, 4711});
    }
}

TEST_CASE("a counter that has been descheduled leaves the record without counter words",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    counted.protocol.pages[1].index = 0;
    counted.protocol.files[1].end();
    stand_in.value = [](int) { return 3ull; };
    Counted::start();
    CHECK(counted.records().at(0).words.empty());
}

TEST_CASE("the assembly does not read counters of another session", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(1);
    nsp_thread.registers_of = nsp_session_generation - 1;
    counted.protocol.pages[0].offset = 1;
    nsp_thread.counter[0].page = nullptr; // would fault
    stand_in.value = [](int) { return 3ull; };
    Counted::start();
    CHECK(counted.records().at(0).words == Words{4});
}

TEST_CASE("a record with counters that finds the ring full is counted as lost",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    stand_in.value = ten_more;
    const unsigned fit = Rings::kUnits / 4;
    for (unsigned i = 0; i < fit + 3; ++i)
        Counted::start();
    CHECK(counted.rings.lost(NSLICE_LOST_FULL) == 3);
    CHECK(counted.records().size() == fit);
    Counted::start();
    CHECK(counted.records().size() == 1);
}

TEST_CASE("a counter whose register overflows at its 48 bits counts on", "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    constexpr uint64_t kPeriod = 50, kPerRead = 7, kMask = (1ull << 48) - 1;
    Counted counted(1);
    auto &page = counted.protocol.pages[0];
    counted.prepare([](int read) { return kPerRead * unsigned(read); });
    page.offset = kPeriod; // the register starts at -kPeriod
    page.lock += 2;
    uint64_t total = 0, begin = 0;
    stand_in.value = [&](int) { // the kernel sets it back some reads after the overflow
        const uint64_t value = (total - begin - kPeriod) & kMask;
        if (total - begin > kPeriod + 2 * kPerRead) {
            begin = total;
            page.offset = int64_t(begin + kPeriod);
            page.lock += 2;
        }
        total += kPerRead;
        return value;
    };
    for (int i = 0; i < 40; ++i)
        i % 2 == 0 ? Counted::start() : Counted::stop();
    const auto records = counted.records();
    REQUIRE(records.size() == 40);
    CHECK(begin > 4 * kPeriod); // it has overflowed several times
    CHECK(stand_in.reads > 40); // and a read was repeated
    for (size_t i = 1; i < records.size(); ++i)
        CHECK(records[i].words.at(0) - records[i - 1].words.at(0) == kPerRead);
}

TEST_CASE("a record with counters on a CPU without a ring is counted as lost",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(2);
    stand_in.value = ten_more;
    counted_state.cpus = 0;
    Counted::start();
    CHECK(nsp_shm_ring(&counted.rings.map, 0)->lost[NSLICE_LOST_BUSY] == 1);
    CHECK(counted.records().empty());
}

TEST_CASE("a record with counters preserves the program's registers, even if it is refused",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(3);
    stand_in.value = ten_more;
    for (const uint32_t cpus : {counted_state.cpus, 0u}) {
        counted_state.cpus = cpus;
        register uint64_t r10 __asm__("r10") = 10;
        register uint64_t r11 __asm__("r11") = 11;
        register uint64_t r12 __asm__("r12") = 12;
        __asm__ volatile("" : "+r"(r10), "+r"(r11), "+r"(r12));
        NSP_DETAIL_PROBE("counted_state", "slice", NSLICE_KIND_START);
        __asm__ volatile("" : "+r"(r10), "+r"(r11), "+r"(r12));
        const uint64_t after[] = {r10, r11, r12};
        CHECK(after[0] == 10);
        CHECK(after[1] == 11);
        CHECK(after[2] == 12);
    }
}

TEST_CASE("instructions of an attempt that a signal aborted are in no record",
          "[libnsprobe][counted]")
{
    if (!can_run())
        return;
    Counted counted(1);
    counted.prepare(ten_more);
    const uint64_t detour = nsp_thread.counter[0].detour;
    struct sigaction action = {}, before;
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before);
    const itimerval often = {{0, 50}, {0, 50}}, never = {};
    setitimer(ITIMER_REAL, &often, nullptr);
    uint64_t written = 0;
    while (stand_in.reads < 2'000'000 && (written < 1000 || int(written) == stand_in.reads)) {
        for (int i = 0; i < 50; ++i) {
            Counted::start();
            Counted::exit();
        }
        for (const auto &record : counted.records()) { // each has read once, whatever its value
            ++written;
            if (record.kind == NSLICE_KIND_START && record.words != Words{10 * written - detour})
                FAIL("record " << written << " says " << record.words.at(0));
        }
    }
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    CHECK(stand_in.reads >
          int(written)); // attempts were repeated, so the test has exercised its case
}
