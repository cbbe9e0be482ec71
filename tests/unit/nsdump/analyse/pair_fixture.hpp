// SPDX-License-Identifier: MIT
// A small trace -> the result of the pairer.
#pragma once

#include <string>
#include <vector>

#include "analyse/pair/pair.hpp"
#include "nsdump_support.hpp"
#include "support/trace_builder.hpp"

namespace pair_fixture
{
using nsdump::ProbeCounts;
using test_support::source_of;
using test_support::TraceBuilder;

struct Got {
    std::string name;
    uint32_t thread_id;
    uint64_t stop_ticks;
    int64_t raw_ticks;
    uint32_t depth;
    ProbeCounts inside;
    int64_t child_ticks;
    bool is_migrated;
    bool is_interrupted;
    bool spans_loss;
    bool is_crossed;
    int64_t unit; // number, -1 if none
    std::vector<int64_t> counters;
    bool has_child_counters;

    bool operator==(const Got &) const = default;
};

struct Sink {
    nsdump::NameTable &names;
    size_t counters;
    std::vector<Got> slices = {};
    std::vector<uint64_t> marks = {};
    int units = 0;

    void slice(const nsdump::Slice &slice)
    {
        Got got{names[slice.name].text,
                slice.thread_id,
                slice.stop_ticks,
                slice.raw_ticks,
                slice.depth,
                slice.inside,
                slice.child_ticks,
                slice.is_migrated,
                slice.is_interrupted,
                slice.spans_loss,
                slice.is_crossed,
                slice.unit ? int64_t(slice.unit->number) : -1,
                {},
                slice.child_counters != nullptr};
        if (slice.counters)
            got.counters.assign(slice.counters, slice.counters + counters);
        slices.push_back(got);
    }
    void unit(const nsdump::Unit &) { ++units; }
    void mark(nsdump::NameId, uint64_t value) { marks.push_back(value); }
};

struct Paired {
    std::vector<Got> slices;
    std::vector<uint64_t> marks;
    int units = 0;
    nsdump::UnpairedCounts a; // counts of the slice named "a"
    uint64_t malformed = 0;
};

// The sites: 1 "a", 2 "b", 3 "a" again, 4 unit "u", 5 mark "m".
inline TraceBuilder new_trace(const std::string &counters = "")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, counters));
    trace.site("a");
    trace.site("b");
    trace.site("a", NSLICE_KIND_STOP);
    trace.site("u", NSLICE_KIND_INIT);
    trace.site("m", NSLICE_KIND_MARK);
    return trace;
}

inline Paired pair(TraceBuilder &builder, nsdump::Order order = nsdump::Order::kTime)
{
    nsdump::TraceFile trace(source_of(builder.bytes()));
    Sink sink{trace.names(), trace.counter_names().size()};
    nsdump::Pairer pairer(trace.names(), {sink.counters, trace.cpus().size()}, sink);
    nsdump::Merger merger(trace, order);
    for (nsdump::Run run; merger.next(run);)
        pairer.consume(run);
    pairer.finish();
    return {sink.slices, sink.marks, sink.units,
            pairer.unpaired().slices[trace.names().of_slice(1)],
            pairer.unpaired().malformed_events};
}
} // namespace pair_fixture
