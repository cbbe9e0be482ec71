// SPDX-License-Identifier: MIT
#include "decode/seek/read_plan.hpp"

#include <vector>

#include "decode/merge.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::Merger;
using nsdump::Order;
using nsdump::ReadPlan;
using nsdump::TickRange;

namespace
{
std::vector<std::vector<uint64_t>> windows_of(const ReadPlan &plan)
{
    std::vector<std::vector<uint64_t>> windows;
    for (const TickRange &window : plan.windows())
        windows.push_back({window.from_ticks, window.to_ticks});
    return windows;
}

// Two CPUs, one mark at every tick from 100 to 199 on each, in chunks of ten; CPU 0 may lose
// records right before a tick.
std::string trace_of_chunks(uint64_t lost_before_ticks = 0)
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto mark = trace.site("mark", NSLICE_KIND_MARK);
    for (uint64_t ticks = 100; ticks < 200; ++ticks) {
        if (ticks == lost_before_ticks)
            trace.lose(0, NSLICE_LOST_FULL, 3);
        trace.mark(0, 1, mark, ticks, ticks);
        trace.mark(1, 2, mark, ticks, ticks);
        if (ticks % 10 == 9)
            trace.cut_all();
    }
    trace.footer(NSLICE_END_CLOSED, 200, 200);
    return trace.bytes();
}

struct Read {
    std::vector<uint64_t> ticks; // of CPU 0
    std::vector<uint64_t> lead_in_ticks;
    uint64_t losses = 0;               // runs that are marked as after a loss
    std::vector<uint64_t> first_ticks; // of runs that are marked as the first of a window
    uint64_t decoded = 0;
};

Read read(const std::string &bytes, const ReadPlan &plan)
{
    nsdump::TraceFile trace(test_support::source_of(bytes));
    Merger merger(trace, Order::kTime, plan);
    Read read;
    for (nsdump::Run run; merger.next(run);) {
        read.losses += run.is_after_loss;
        if (run.begins_window)
            read.first_ticks.push_back(run.events.front().ticks);
        for (const nsdump::Event &event : run.events)
            if (event.cpu == 0)
                (run.is_lead_in ? read.lead_in_ticks : read.ticks).push_back(event.ticks);
    }
    read.decoded = merger.faults().decoded;
    return read;
}
} // namespace

TEST_CASE("windows begin earlier by the lead-in, and those that overlap are one",
          "[nsdump][read_plan]")
{
    CHECK(windows_of(ReadPlan({}, 10, {{100, 120}, {50, 60}, {125, 130}})) ==
          std::vector<std::vector<uint64_t>>{{40, 60}, {90, 130}});
    CHECK(windows_of(ReadPlan({}, 10, {{5, 6}})) == std::vector<std::vector<uint64_t>>{{0, 6}});
}

TEST_CASE("a window is limited to what is selected, after which nothing may be left",
          "[nsdump][read_plan]")
{
    CHECK(windows_of(ReadPlan({100, 200}, 10, {{50, 300}})) ==
          std::vector<std::vector<uint64_t>>{{90, 200}});
    CHECK(windows_of(ReadPlan({100, 200}, 10, {{50, 60}, {300, 400}})).empty());
    CHECK(windows_of(ReadPlan({100, 200}, 10)) == std::vector<std::vector<uint64_t>>{{90, 200}});
}

TEST_CASE("only the events of the windows are read, and only the chunks that have some",
          "[nsdump][read_plan]")
{
    const Read found = read(trace_of_chunks(), ReadPlan({152, 154}, 0));
    CHECK(found.ticks == std::vector<uint64_t>{152, 153, 154});
    CHECK(found.lead_in_ticks.empty());
    CHECK(found.losses == 0); // where reading begins is no loss
    CHECK(found.decoded == 2 * 10);
}

TEST_CASE("events of the lead-in are in runs of their own", "[nsdump][read_plan]")
{
    const Read found = read(trace_of_chunks(), ReadPlan({152, 153}, 3));
    CHECK(found.lead_in_ticks == std::vector<uint64_t>{149, 150, 151});
    CHECK(found.ticks == std::vector<uint64_t>{152, 153});
}

TEST_CASE("a gap between windows, also inside a chunk, is no loss, and the next window is marked",
          "[nsdump][read_plan]")
{
    const Read apart = read(trace_of_chunks(), ReadPlan({}, 0, {{101, 102}, {185, 186}}));
    CHECK(apart.ticks == std::vector<uint64_t>{101, 102, 185, 186});
    CHECK(apart.losses == 0);
    CHECK(apart.first_ticks == std::vector<uint64_t>{185});
    CHECK(apart.decoded == 4 * 10);
    const Read close = read(trace_of_chunks(), ReadPlan({}, 0, {{101, 102}, {105, 106}}));
    CHECK(close.ticks == std::vector<uint64_t>{101, 102, 105, 106});
    CHECK(close.losses == 0);
    CHECK(close.first_ticks == std::vector<uint64_t>{105});
    const Read at_chunk = read(trace_of_chunks(), ReadPlan({}, 0, {{108, 108}, {110, 110}}));
    CHECK(at_chunk.ticks == std::vector<uint64_t>{108, 110});
    CHECK(at_chunk.losses == 0);
    CHECK(at_chunk.first_ticks == std::vector<uint64_t>{110});
}

TEST_CASE("a loss in a window is marked, one in the gap before it is not", "[nsdump][read_plan]")
{
    const ReadPlan plan({}, 0, {{101, 102}, {185, 192}});
    CHECK(read(trace_of_chunks(190), plan).losses == 1);
    CHECK(read(trace_of_chunks(180), plan).losses == 0); // the records that follow it are not read
    CHECK(read(trace_of_chunks(150), plan).losses == 0);
}

TEST_CASE("nothing is read for windows before or after the recording, or for none",
          "[nsdump][read_plan]")
{
    const std::string bytes = trace_of_chunks();
    CHECK(read(bytes, ReadPlan({0, 99}, 0)).ticks.empty());
    CHECK(read(bytes, ReadPlan({200, 300}, 0)).ticks.empty());
    CHECK(read(bytes, ReadPlan({}, 0, {})).ticks.empty());
    CHECK(read(bytes, ReadPlan({}, 0)).ticks.size() == 100);
}
