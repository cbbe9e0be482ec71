// SPDX-License-Identifier: MIT
#include "analyse/pair/pair.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include "pair_fixture.hpp"
#include "support/catch.hpp"

using namespace pair_fixture;

TEST_CASE("slices are paired by name, whatever their sites", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100);
    trace.stop(0, 1, 3, 150);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].name == "a");
    CHECK(out.slices[0].raw_ticks == 50);
    CHECK_FALSE(out.slices[0].is_migrated);
    CHECK_FALSE(out.a.any());
}

TEST_CASE("a slice knows the probes inside it at every depth", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100); // a
    trace.init(0, 1, 4, 110, 7, 64, 1000);
    trace.start(0, 1, 2, 120); //   b
    trace.mark(0, 1, 5, 130, 99);
    trace.start(0, 1, 1, 140); //     a
    trace.stop(0, 1, 1, 160);
    trace.stop(0, 1, 2, 180);
    trace.exit(0, 1, 4, 190);
    trace.stop(0, 1, 1, 200);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 3);
    CHECK(out.slices[0].depth == 2);
    CHECK(out.slices[0].unit == 7);
    CHECK(out.slices[1].name == "b");
    CHECK(out.slices[1].unit == 7);
    CHECK(out.slices[1].inside.ends == 2);
    CHECK(out.slices[1].inside.marks == 1);
    CHECK(out.slices[1].child_ticks == 20);
    CHECK(out.slices[2].inside.ends == 4);
    CHECK(out.slices[2].inside.marks == 1);
    CHECK(out.slices[2].inside.inits == 1);
    CHECK(out.slices[2].inside.exits == 1);
    CHECK(out.slices[2].child_ticks == 60);
    CHECK(out.slices[2].unit == -1); // it began before the unit
    CHECK(out.marks == std::vector<uint64_t>{99});
    CHECK(out.units == 1);
}

TEST_CASE("threads have separate stacks, also on one CPU", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100);
    trace.start(0, 2, 1, 110);
    trace.stop(0, 1, 1, 120);
    trace.stop(0, 2, 1, 140);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[0].raw_ticks == 20);
    CHECK(out.slices[1].raw_ticks == 30);
    CHECK(out.slices[1].depth == 0);
}

TEST_CASE("START and STOP on different CPUs are one migrated slice", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100);
    trace.stop(1, 1, 1, 150);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].is_migrated);
    CHECK(out.slices[0].raw_ticks == 50);
}

TEST_CASE("a slice is interrupted if another thread writes on its CPU meanwhile, and only then",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 100);
    trace.start(1, 2, 2, 110); // on another CPU
    trace.stop(1, 2, 2, 120);
    trace.stop(0, 1, 1, 130);
    trace.start(0, 1, 1, 200);
    trace.start(0, 2, 2, 210);
    trace.stop(0, 2, 2, 220);
    trace.stop(0, 1, 1, 230);
    trace.start(0, 1, 1, 300); // after the other one had been there
    trace.stop(0, 1, 1, 330);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 5);
    std::vector<std::pair<uint64_t, bool>> interrupted;
    for (const Got &got : out.slices)
        interrupted.emplace_back(got.stop_ticks, got.is_interrupted);
    CHECK(interrupted == std::vector<std::pair<uint64_t, bool>>{
                             {120, false}, {130, false}, {220, false}, {230, true}, {330, false}});
}

TEST_CASE("a START without STOP is counted, and its contents go to the enclosing slice",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 2, 100); // b
    trace.start(0, 1, 1, 110); //   a, never stopped
    trace.start(0, 1, 2, 120); //     b
    trace.stop(0, 1, 2, 150);
    trace.mark(0, 1, 5, 160, 1);
    // The STOP closes the b that is open, and the a above it is dropped.
    trace.stop(0, 1, 2, 200);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[1].raw_ticks == 100);
    CHECK(out.slices[1].inside.ends == 3); // the inner b and the START of a
    CHECK(out.slices[1].inside.marks == 1);
    CHECK(out.slices[1].child_ticks == 30);
    CHECK(out.a.unmatched_start == 1);
}

TEST_CASE("a STOP without START, and slices open at the end, are counted", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.stop(0, 1, 1, 100);
    trace.start(0, 1, 1, 110);
    const Paired out = pair(trace);
    CHECK(out.slices.empty());
    CHECK(out.a.unmatched_stop == 1);
    CHECK(out.a.unmatched_start == 1);
}

TEST_CASE("slices deeper than the limit are counted, and the outer ones stay correct",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    const uint32_t limit = nsdump::PairState::kMaxDepth;
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < limit + 10; ++i)
        trace.start(0, 1, 1, ++ticks);
    for (uint32_t i = 0; i < limit + 10; ++i)
        trace.stop(0, 1, 1, ++ticks);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == limit);
    CHECK(out.a.too_deep == 10);
    CHECK(out.a.unmatched_stop == 0);
    CHECK(out.slices[limit - 1].raw_ticks == 2 * (limit + 10) - 1);
    CHECK(out.slices[limit - 1].inside.ends == 2 * (limit + 9));
}

TEST_CASE("the end of a unit ends what was too deep in it", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.init(0, 1, 4, 1, 1, 1, 64);
    for (uint64_t i = 0; i < nsdump::PairState::kMaxDepth + 1; ++i)
        trace.start(0, 1, 1, 10 + i); // left by an early return
    trace.exit(0, 1, 4, 200);
    trace.stop(0, 1, 1, 210);
    const Paired out = pair(trace);
    CHECK(out.slices.empty());
    CHECK(out.a.too_deep == 1);
    CHECK(out.a.unmatched_start == nsdump::PairState::kMaxDepth);
    CHECK(out.a.unmatched_stop == 1);
}

TEST_CASE("a slice that was open while records were lost is marked", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 2, 90);
    trace.stop(0, 1, 2, 95);
    trace.start(0, 1, 1, 100);
    trace.lose(0, NSLICE_LOST_FULL, 4);
    trace.stop(0, 1, 1, 200);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK_FALSE(out.slices[0].spans_loss);
    CHECK(out.slices[1].spans_loss);
}

TEST_CASE("a slice opened after a loss is marked by the next one, whatever was open at the first",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.mark(0, 1, 5, 10, 0); // thread 1 is known and has nothing open
    trace.start(0, 2, 1, 20);
    trace.mark(1, 3, 5, 30, 0);
    trace.lose(0, NSLICE_LOST_FULL, 1);
    trace.stop(0, 2, 1, 100);
    trace.start(0, 1, 2, 110);
    trace.start(0, 2, 2, 120);
    trace.start(1, 3, 2, 130); // on a CPU that loses nothing until thread 3 has come from there
    trace.lose(0, NSLICE_LOST_FULL, 1);
    trace.stop(0, 1, 2, 210);
    trace.stop(0, 2, 2, 220);
    trace.start(0, 2, 2, 230);
    trace.stop(0, 2, 2, 240);
    trace.stop(0, 3, 2, 250);
    trace.start(1, 3, 2, 260);
    trace.lose(0, NSLICE_LOST_FULL, 1);
    trace.mark(0, 1, 5, 270, 0);
    trace.stop(1, 3, 2, 280);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 6);
    const bool spans_loss[] = {true, true, true, false, false, true};
    for (size_t i = 0; i < std::size(spans_loss); ++i) {
        CAPTURE(i);
        CHECK(out.slices[i].spans_loss == spans_loss[i]);
    }
}

TEST_CASE("a loss on any CPU marks the open slices of a thread that moves between CPUs",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.mark(1, 1, 5, 10, 0); // thread 1 has been on CPU 1
    trace.start(0, 1, 1, 100);
    trace.start(0, 2, 2, 110); // thread 2 has never left CPU 0
    trace.mark(1, 3, 5, 120, 0);
    trace.lose(1, NSLICE_LOST_FULL, 4);
    trace.mark(1, 3, 5, 150, 0);
    trace.stop(0, 2, 2, 190);
    trace.stop(0, 1, 1, 200);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK_FALSE(out.slices[0].spans_loss);
    CHECK(out.slices[1].spans_loss);
}

TEST_CASE("slices whose STOPs were lost do not accumulate", "[nsdump][pair]")
{
    auto trace = new_trace();
    for (uint64_t ticks = 0; ticks < 200'000; ticks += 1000) {
        trace.start(0, 1, 1, ticks);
        trace.start(0, 1, 2, ticks + 1);
        trace.lose(0, NSLICE_LOST_FULL, 2);
        trace.start(0, 1, 1, ticks + 100);
        trace.stop(0, 1, 1, ticks + 150);
    }
    const Paired out = pair(trace);
    CHECK(out.a.too_deep == 0);
    CHECK(out.a.unmatched_start == 200);
    REQUIRE(out.slices.size() == 200);
    for (const Got &slice : out.slices) {
        CHECK(slice.raw_ticks == 50);
        CHECK_FALSE(slice.spans_loss);
    }
}

TEST_CASE("counters are differences of running totals, also if a total wraps", "[nsdump][pair]")
{
    auto trace = new_trace("I,C");
    trace.start(0, 1, 1, 100, {~0ull, 50});
    trace.start(0, 1, 2, 110, {5, 60});
    trace.stop(0, 1, 2, 120, {15, 61});
    trace.stop(0, 1, 1, 130, {20, 90});
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[1].counters == std::vector<int64_t>{21, 40});
    CHECK(out.slices[1].has_child_counters);
}

TEST_CASE("a slice whose records carry no counters has none, and its parent no sum",
          "[nsdump][pair]")
{
    auto trace = new_trace("I");
    trace.start(0, 1, 1, 100, {10});
    trace.start(0, 1, 2, 110);
    trace.stop(0, 1, 2, 120);
    trace.stop(0, 1, 1, 130, {20});
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[0].counters.empty());
    CHECK(out.slices[1].counters == std::vector<int64_t>{10});
    CHECK_FALSE(out.slices[1].has_child_counters);
}

TEST_CASE("records with the wrong number of words are counted, and nothing is read beyond them",
          "[nsdump][pair]")
{
    auto trace = new_trace("I");
    trace.start(0, 1, 1, 100, {1, 2, 3});
    trace.stop(0, 1, 1, 110, {4});
    trace.record(0, 1, NSLICE_KIND_INIT, 4, 120);
    trace.record(0, 1, NSLICE_KIND_MARK, 5, 130);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].counters.empty());
    CHECK(out.marks.empty());
    CHECK(out.units == 0);
    CHECK(out.malformed == 3);
}

TEST_CASE("a unit that lost its EXIT ends at the next INIT", "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.init(0, 1, 4, 100, 1, 64, 0);
    trace.init(0, 1, 4, 200, 2, 64, 0);
    trace.start(0, 1, 1, 210);
    trace.stop(0, 1, 1, 220);
    trace.exit(0, 1, 4, 230);
    trace.start(0, 1, 1, 240);
    trace.stop(0, 1, 1, 250);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 2);
    CHECK(out.slices[0].unit == 2);
    CHECK(out.slices[1].unit == -1);
}

TEST_CASE("many short-lived threads use no memory each and lose no slice", "[nsdump][pair]")
{
    auto trace = new_trace();
    const uint32_t threads = nsdump::PairState::kMaxThreads * 2 + 100;
    uint64_t ticks = 0;
    for (uint32_t thread = 1; thread <= threads; ++thread) {
        trace.start(0, thread, 1, ++ticks);
        trace.stop(0, thread, 1, ++ticks);
    }
    const Paired out = pair(trace);
    CHECK(out.slices.size() == threads);
    CHECK_FALSE(out.a.any());
}

TEST_CASE("a slice that was open before INIT belongs to the unit in which it ends",
          "[nsdump][pair]")
{
    auto trace = new_trace();
    trace.start(0, 1, 1, 90);
    trace.init(0, 1, 4, 100, 5, 64, 0);
    trace.stop(0, 1, 1, 110);
    const Paired out = pair(trace);
    REQUIRE(out.slices.size() == 1);
    CHECK(out.slices[0].unit == 5);
}

namespace
{
// Threads that migrate between CPUs in the middle of slices, and CPUs that lose records.
TraceBuilder restless_trace(unsigned seed, unsigned cpus, unsigned threads)
{
    auto trace = new_trace();
    trace.set_chunk_bytes(1024);
    std::mt19937 random(seed);
    std::vector<uint32_t> cpu_of(threads), depth(threads);
    uint64_t ticks = 100;
    for (int i = 0; i < 20000; ++i) {
        const uint32_t thread = random() % threads;
        if (random() % 400 == 0)
            cpu_of[thread] = random() % cpus;
        const uint32_t cpu = cpu_of[thread];
        ticks += 1 + random() % 8;
        if (random() % 900 == 0) {
            trace.lose(cpu, NSLICE_LOST_FULL, 3);
        } else if (random() % 20 == 0) {
            trace.init(cpu, 1 + thread, 4, ticks, i, 64, 1000);
        } else if (random() % 19 == 0) {
            trace.exit(cpu, 1 + thread, 4, ticks);
        } else if (depth[thread] < 3 && random() % 2) {
            trace.start(cpu, 1 + thread, 1 + depth[thread]++ % 2, ticks);
        } else if (depth[thread] > 0) {
            trace.stop(cpu, 1 + thread, 1 + --depth[thread] % 2, ticks);
        }
    }
    return trace;
}

void sort_by_thread(std::vector<Got> &slices)
{
    std::stable_sort(slices.begin(), slices.end(),
                     [](const Got &a, const Got &b) { return a.thread_id < b.thread_id; });
}
} // namespace

TEST_CASE("pairing depends only on the order within each thread, whatever migrates or is lost",
          "[nsdump][pair]")
{
    for (unsigned seed = 1; seed <= 24; ++seed) {
        auto trace = restless_trace(seed, 1 + seed % 4, 1 + seed % 13);
        Paired strict = pair(trace), loose = pair(trace, nsdump::Order::kThread);
        sort_by_thread(strict.slices);
        sort_by_thread(loose.slices);
        REQUIRE(loose.slices.size() == strict.slices.size());
        REQUIRE(strict.slices.size() > 1000);
        bool are_equal = true;
        for (size_t i = 0; i < strict.slices.size(); ++i) {
            const auto all = [](const Got &got) {
                return std::tie(got.name, got.thread_id, got.stop_ticks, got.raw_ticks, got.depth,
                                got.inside, got.child_ticks, got.is_migrated, got.is_interrupted,
                                got.spans_loss, got.unit);
            };
            are_equal &= all(strict.slices[i]) == all(loose.slices[i]);
        }
        CHECK(are_equal);
        CHECK(loose.units == strict.units);
        CHECK(loose.a.unmatched_start == strict.a.unmatched_start);
        CHECK(loose.a.unmatched_stop == strict.a.unmatched_stop);
    }
}
