// SPDX-License-Identifier: MIT
#include "decode/merge.hpp"

#include <algorithm>
#include <random>

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
std::vector<std::pair<uint64_t, uint32_t>> merged(const std::string &bytes)
{
    nsdump::TraceFile trace(source_of(bytes));
    nsdump::Merger merger(trace);
    nsdump::Run run;
    std::vector<std::pair<uint64_t, uint32_t>> out;
    while (merger.next(run))
        for (const nsdump::Event &event : run.events)
            out.emplace_back(event.ticks, trace.cpus()[run.cpu_index].cpu);
    return out;
}
} // namespace

TEST_CASE("events of any number of CPUs are returned in time order, and none is left out",
          "[nsdump][merge]")
{
    for (const uint32_t cpus : {1u, 2u, 3u, 17u}) {
        std::mt19937 random(cpus);
        TraceBuilder trace;
        trace.info(test_support::plain_info());
        trace.set_chunk_bytes(1024);
        uint64_t ticks = 0;
        for (int i = 0; i < 5000; ++i)
            trace.start(random() % cpus * 3, 1, 1, ticks += random() % 3);
        const auto out = merged(trace.bytes());
        CHECK(out.size() == 5000);
        CHECK(std::is_sorted(out.begin(), out.end(),
                             [](auto a, auto b) { return a.first < b.first; }));
    }
}

TEST_CASE("the order of equal ticks is the same each time", "[nsdump][merge]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    for (const uint32_t cpu : {2u, 0u, 1u})
        for (int i = 0; i < 3; ++i)
            trace.start(cpu, 1, 1, 7);
    const auto out = merged(trace.bytes());
    REQUIRE(out.size() == 9);
    for (uint32_t i = 0; i < 9; ++i)
        CHECK(out[i].second == i / 3);
}

TEST_CASE("a CPU whose clock goes back loses no events", "[nsdump][merge]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    for (const uint64_t ticks : {100, 50, 60, 200})
        trace.start(0, 1, 1, ticks);
    for (const uint64_t ticks : {55, 150})
        trace.start(1, 1, 1, ticks);
    CHECK(merged(trace.bytes()).size() == 6);
}

TEST_CASE("a trace without records has no runs", "[nsdump][merge]")
{
    TraceBuilder trace;
    trace.footer(NSLICE_END_CLOSED, 1, 1);
    CHECK(merged(trace.bytes()).empty());
}

TEST_CASE("CPUs of different threads give long runs if only the order within a thread counts",
          "[nsdump][merge]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    for (uint64_t i = 0; i < 20000; ++i)
        trace.start(i % 2, 1 + i % 2, 1, 1000 + i);
    nsdump::TraceFile file(source_of(trace.bytes()));
    nsdump::Merger merger(file, nsdump::Order::kThread);
    nsdump::Run run;
    size_t runs = 0, events = 0;
    while (merger.next(run)) {
        ++runs;
        events += run.events.size();
    }
    CHECK(events == 20000);
    CHECK(runs < 200);
}

TEST_CASE("a clock that goes back inside a block does not reverse the order within a thread",
          "[nsdump][merge]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.start(0, 2, 1, 10);
    trace.start(0, 1, 1, 100);
    trace.start(0, 2, 1, 20);
    trace.start(1, 1, 1, 50);
    nsdump::TraceFile file(source_of(trace.bytes()));
    nsdump::Merger merger(file, nsdump::Order::kThread);
    std::vector<uint64_t> of_thread_1;
    for (nsdump::Run run; merger.next(run);)
        for (const nsdump::Event &event : run.events)
            if (event.thread_id == 1)
                of_thread_1.push_back(event.ticks);
    CHECK(of_thread_1 == std::vector<uint64_t>{50, 100});
}

TEST_CASE("only the first run after a pause, of whichever CPU, is marked", "[nsdump][merge]")
{
    const auto order = GENERATE(nsdump::Order::kTime, nsdump::Order::kThread);
    TraceBuilder builder;
    builder.info(test_support::plain_info());
    builder.start(0, 1, 1, 10);
    builder.start(1, 2, 1, 20);
    builder.leave_out(7);
    builder.start(1, 2, 1, 30);
    builder.start(0, 1, 1, 40);
    builder.start(1, 2, 1, 50);
    nsdump::TraceFile trace(source_of(builder.bytes()));
    nsdump::Merger merger(trace, order);
    std::vector<uint64_t> marked;
    for (nsdump::Run run; merger.next(run);)
        if (run.is_after_pause)
            marked.push_back(run.events.front().ticks);
    CHECK(marked == std::vector<uint64_t>{30});
}
