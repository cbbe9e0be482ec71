// SPDX-License-Identifier: MIT
// The short ways of plain slices beside the ways that all slices can go: made-up programs that do
// what they should not, too.
#include <random>

#include "analyse/nesting_seen.hpp"
#include "pair_fixture.hpp"
#include "support/catch.hpp"

using namespace pair_fixture;
using test_support::entry;

namespace
{
constexpr uint32_t kCpus = 2, kThreads = 3;
constexpr int kTraces = 40, kSteps = 3000;

// Calls of functions, marks and units of some threads.  Rarely, a STOP or EXIT is missing, a thread
// moves, its slices are long, too deep or cross each other, or records are lost.
class MadeUpProgram
{
public:
    MadeUpProgram(unsigned seed, bool has_counters)
        : random_(seed), trace_(new_trace(has_counters ? "I" : "")), has_counters_(has_counters)
    {
        trace_.calibration(NSLICE_CALIBRATION_START, 0, 0,
                           {entry(NSLICE_KIND_START, 0, 7.25, 21.5, 0.5),
                            entry(NSLICE_KIND_MARK, 0, 0, 3.125, 0.5),
                            entry(NSLICE_KIND_START, 1, 3, 5)});
        trace_.site("v", NSLICE_KIND_INIT);
        for (int i = 0; i < kSteps; ++i)
            step(threads_[below(kThreads)]);
    }
    TraceBuilder &trace() { return trace_; }

private:
    struct Thread {
        uint32_t cpu = 0;
        bool is_in_unit = false;
        std::vector<uint16_t> open;
    };

    uint32_t below(uint32_t bound) { return uint32_t(random_() % bound); }
    bool rarely() { return below(100) == 0; }
    std::vector<uint64_t> words()
    {
        if (!has_counters_ || rarely())
            return {};
        counter_ += below(50);
        return {counter_};
    }
    void step(Thread &thread)
    {
        const auto id = uint32_t(100 + (&thread - threads_));
        ticks_ += rarely() ? 5000 : 1 + below(40);
        if (rarely())
            thread.cpu = below(kCpus);
        if (rarely() && rarely())
            trace_.lose(thread.cpu, NSLICE_LOST_FULL, 3);
        if (below(50) == 0) // a unit in a unit
            trace_.init(thread.cpu, id, 6, ticks_, 1, 1, 100);
        else if (below(50) == 0)
            trace_.exit(thread.cpu, id, 6, ticks_);
        const uint32_t what = below(12);
        if (what < 7) {
            start(thread, id);
        } else if (what < 10) {
            stop(thread, id);
        } else if (what == 10) {
            trace_.mark(thread.cpu, id, 5, ticks_, below(9));
        } else if (thread.is_in_unit) {
            trace_.exit(thread.cpu, id, 4, ticks_);
            thread.is_in_unit = rarely();
        } else {
            trace_.init(thread.cpu, id, 4, ticks_, 1 + below(9), below(5), 100);
            thread.is_in_unit = !rarely();
        }
    }
    void start(Thread &thread, uint32_t id)
    {
        const int count = rarely() && below(4) == 0 ? 70 : 1;
        for (int i = 0; i < count; ++i) {
            thread.open.push_back(uint16_t(1 + below(2)));
            trace_.start(thread.cpu, id, thread.open.back(), ticks_, words());
            ticks_ += 1 + below(30);
        }
        if (below(3) > 0)
            stop(thread, id);
    }
    void stop(Thread &thread, uint32_t id)
    {
        if (thread.open.empty())
            return;
        const size_t place = thread.open.size() > 1 && rarely() ? 1 : 0; // from the top
        const uint16_t slice = thread.open.end()[-1 - ptrdiff_t(place)];
        thread.open.erase(thread.open.end() - 1 - ptrdiff_t(place));
        if (!rarely())
            trace_.stop(thread.cpu, id, slice == 1 && rarely() ? 3 : slice, ticks_, words());
    }

    std::mt19937 random_;
    TraceBuilder trace_;
    bool has_counters_;
    Thread threads_[kThreads];
    uint64_t ticks_ = 1000, counter_ = 0;
};

// Without plain().
struct SlicesOnly {
    nsdump::StatsCollector &statistics;

    void slice(const nsdump::Slice &slice) { statistics.slice(slice); }
    void unit(const nsdump::Unit &unit) { statistics.unit(unit); }
    void mark(nsdump::NameId name, uint64_t value) { statistics.mark(name, value); }
};

// Event by event, no START has its STOP beside it.
template <class Sink> void consume(nsdump::TraceFile &trace, Sink &sink, bool is_by_event)
{
    nsdump::Pairer pairer(trace.names(), {trace.counter_names().size(), trace.cpus().size()}, sink);
    nsdump::Merger merger(trace, nsdump::Order::kTime);
    for (nsdump::Run run; merger.next(run);) {
        const std::span<const nsdump::Event> events = run.events;
        for (size_t i = 0; i < events.size(); i += run.events.size()) {
            run.events = events.subspan(i, is_by_event ? 1 : events.size());
            pairer.consume(run);
            run.is_after_loss = false;
        }
    }
    pairer.finish();
}

std::vector<Got> slices_of(const std::string &bytes, bool is_by_event)
{
    nsdump::TraceFile trace(source_of(bytes));
    Sink sink{trace.names(), trace.counter_names().size()};
    consume(trace, sink, is_by_event);
    return sink.slices;
}

void add(std::vector<double> &figures, const nsdump::Moments &moments, uint64_t count)
{
    figures.insert(figures.end(), {moments.sum(), moments.sd(count), moments.min(), moments.max()});
}

void add(std::vector<double> &figures, const nsdump::Histogram &histogram)
{
    for (const nsdump::Bucket &one : histogram.buckets())
        figures.insert(figures.end(), {one.low, double(one.count), one.sum, one.squares});
}

void add(std::vector<double> &figures, const nsdump::FieldStats &field)
{
    figures.insert(figures.end(),
                   {double(field.count), double(field.below_noise), double(field.unit_count),
                    double(field.packets), field.unit_raw, field.unit_net, field.unit_self,
                    field.net_errors.uncertainty().ci95(), field.net_errors.bound(),
                    field.self_errors.uncertainty().ci95(), field.self_errors.bound(),
                    field.net_blocks.standard_error(), field.per_unit.blocks().standard_error()});
    add(figures, field.raw, field.count);
    add(figures, field.net, field.net_count);
    add(figures, field.self, field.self_count);
    add(figures, field.raw_histogram);
    add(figures, field.net_histogram);
}

template <class MakeSink>
std::vector<double> figures_of(const std::string &bytes, MakeSink make_sink, bool is_by_event)
{
    nsdump::TraceFile trace(source_of(bytes));
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector statistics(correction, trace.counter_names().size());
    auto sink = make_sink(statistics);
    consume(trace, sink, is_by_event);
    statistics.finish();
    std::vector<double> figures;
    for (nsdump::NameId name = 0; name < trace.names().size(); ++name) {
        const nsdump::SliceStats *stats = statistics.slice_stats(name);
        if (!stats)
            continue;
        for (const uint64_t count : {stats->first_seen, stats->migrated, stats->spans_loss,
                                     stats->crossed, stats->interrupted, stats->uncounted})
            figures.push_back(double(count));
        add(figures, stats->ticks);
        for (const nsdump::FieldStats &counter : stats->counters)
            add(figures, counter);
    }
    return figures;
}
std::vector<double> figures_in_full(const std::string &bytes)
{
    return figures_of(
        bytes, [](nsdump::StatsCollector &statistics) { return SlicesOnly{statistics}; }, true);
}

std::vector<double> plain_figures(const std::string &bytes)
{
    return figures_of(
        bytes, [](nsdump::StatsCollector &statistics) { return nsdump::NestingSeen(statistics); },
        false);
}
} // namespace

TEST_CASE("a START with its STOP beside it gives the slice that the stack gives", "[nsdump][pair]")
{
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, seed % 2 == 1);
        const std::string bytes = program.trace().bytes();
        const auto slices = slices_of(bytes, false);
        REQUIRE(slices.size() > kSteps / 10);
        REQUIRE(slices == slices_of(bytes, true));
    }
}

TEST_CASE("slices that are taken as plain give the same figures to the bit", "[nsdump][pair]")
{
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, seed % 4 == 3);
        const std::string bytes = program.trace().bytes();
        const auto in_full = figures_in_full(bytes);
        REQUIRE(in_full.size() > 100);
        REQUIRE(plain_figures(bytes) == in_full);
    }
}

TEST_CASE("a slice that ends in a unit in which it did not begin is in none", "[nsdump][pair]")
{
    TraceBuilder trace = new_trace();
    trace.site("v", NSLICE_KIND_INIT);
    uint64_t ticks = 1000;
    for (const bool is_in_unit : {false, true, false, true}) {
        if (is_in_unit)
            trace.init(0, 7, 4, ticks += 5, 1, 1, 100);
        trace.start(0, 7, 1, ticks += 5);
        trace.init(0, 7, 6, ticks += 5, 1, 1, 100);
        trace.stop(0, 7, 1, ticks += 40);
        trace.exit(0, 7, 6, ticks += 5);
        if (is_in_unit)
            trace.exit(0, 7, 4, ticks += 5);
    }
    const std::string bytes = trace.bytes();
    REQUIRE(plain_figures(bytes) == figures_in_full(bytes));
}
