// SPDX-License-Identifier: MIT
// The short ways of plain slices, and records read where they lie, beside the ways that all slices
// can go: made-up programs that do what they should not, too.
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
    MadeUpProgram(unsigned seed, bool has_counters, uint32_t cpus = kCpus)
        : random_(seed), trace_(new_trace(has_counters ? "I" : "")), cpus_(cpus),
          has_counters_(has_counters)
    {
        trace_.set_chunk_bytes(4096);
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
            thread.cpu = below(cpus_);
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
    uint32_t cpus_;
    bool has_counters_;
    Thread threads_[kThreads];
    uint64_t ticks_ = 1000, counter_ = 0;
};

// Without plain() and leaves().
struct SlicesOnly {
    nsdump::StatsCollector &statistics;

    void slice(const nsdump::Slice &slice) { statistics.slice(slice); }
    void unit(const nsdump::Unit &unit) { statistics.unit(unit); }
    void mark(nsdump::NameId name, uint64_t value) { statistics.mark(name, value); }
};

enum class Way {
    kEvents,
    kEventByEvent, // no START has its STOP beside it
    kInPlace,
};

// What the reader of a CPU finds is the same in all ways.
template <class Sink>
nsdump::StreamFaults consume_in_place(nsdump::TraceFile &trace, nsdump::Pairer<Sink> &pairer)
{
    nsdump::StreamFaults faults;
    for (uint32_t cpu = 0; cpu < trace.cpus().size(); ++cpu) {
        nsdump::CpuStream stream(trace, trace.cpus()[cpu]);
        while (nsdump::RecordCursor *const records = stream.next_payload(nullptr))
            pairer.consume(*records, {cpu, stream.is_after_loss()}, [](uint32_t) {});
        faults += stream.faults();
    }
    return faults;
}

template <class Sink> nsdump::StreamFaults consume(nsdump::TraceFile &trace, Sink &sink, Way way)
{
    nsdump::Pairer pairer(trace.names(), {trace.counter_names().size(), trace.cpus().size()}, sink);
    if (way == Way::kInPlace) {
        const nsdump::StreamFaults faults = consume_in_place(trace, pairer);
        pairer.finish();
        return faults;
    }
    nsdump::Merger merger(trace, nsdump::Order::kTime);
    for (nsdump::Run run; merger.next(run);) {
        const std::span<const nsdump::Event> events = run.events;
        for (size_t i = 0; i < events.size(); i += run.events.size()) {
            run.events = events.subspan(i, way == Way::kEventByEvent ? 1 : events.size());
            pairer.consume(run);
            run.is_after_loss = false;
        }
    }
    pairer.finish();
    return merger.faults();
}

std::vector<Got> slices_of(const std::string &bytes, Way way)
{
    nsdump::TraceFile trace(source_of(bytes));
    Sink sink{trace.names(), trace.counter_names().size()};
    consume(trace, sink, way);
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
std::vector<double> figures_of(const std::string &bytes, MakeSink make_sink, Way way)
{
    nsdump::TraceFile trace(source_of(bytes));
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector statistics(correction, trace.counter_names().size());
    auto sink = make_sink(statistics);
    consume(trace, sink, way);
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
        bytes, [](nsdump::StatsCollector &statistics) { return SlicesOnly{statistics}; },
        Way::kEventByEvent);
}

std::vector<double> plain_figures(const std::string &bytes, Way way)
{
    return figures_of(
        bytes, [](nsdump::StatsCollector &statistics) { return nsdump::NestingSeen(statistics); },
        way);
}

// Records of unknown kinds, and one that is none; the clock goes back.
void add_faults(TraceBuilder &trace, unsigned seed)
{
    std::mt19937 random(seed);
    uint64_t ticks = 1'000'000;
    const uint64_t words[] = {1, 2, 3};
    for (int i = 0; i < 300; ++i) {
        const uint32_t thread = 100 + uint32_t(random() % 2);
        ticks += random() % 50;
        if (random() % 40 == 0)
            ticks -= 200;
        if (random() % 20 == 0)
            trace.record(0, uint32_t(random() % 2) + 100, uint8_t(6 + random() % 9), 1, ticks,
                         words, random() % 4);
        trace.start(0, thread, 1, ticks);
        if (random() % 3 == 0)
            trace.stop(0, thread, 1, ticks += 7);
        if (random() % 100 == 0) {
            trace.record(0, thread, 0, 1, ticks);
            trace.cut(0);
        }
    }
}

std::vector<uint64_t> faults_of(const std::string &bytes, Way way)
{
    nsdump::TraceFile trace(source_of(bytes));
    Sink sink{trace.names(), trace.counter_names().size()};
    const nsdump::StreamFaults faults = consume(trace, sink, way);
    return {faults.decoded,      faults.unknown_kind, faults.malformed_chunks,
            faults.wrong_counts, faults.ticks_back,   faults.declared};
}

// Counts what is taken in the short ways.
struct CountingSink {
    explicit CountingSink(nsdump::StatsCollector &to) : statistics(to) {}

    void slice(const nsdump::Slice &slice) { statistics.slice(slice); }
    bool plain(const nsdump::PlainSlice &slice)
    {
        const bool is_taken = statistics.plain(slice);
        plains += is_taken;
        return is_taken;
    }
    bool leaves(const nsdump::LeavesSlice &slice)
    {
        const bool is_taken = statistics.leaves(slice);
        (slice.leaves > 0 ? with_leaves : alone) += is_taken;
        return is_taken;
    }
    void unit(const nsdump::Unit &unit) { statistics.unit(unit); }
    void mark(nsdump::NameId name, uint64_t value) { statistics.mark(name, value); }

    nsdump::StatsCollector &statistics;
    int plains = 0, with_leaves = 0, alone = 0;
};

// Units that all have the same slices: one with nothing inside, one with two leaves, and one around
// such a one.
std::string even_program()
{
    TraceBuilder trace = new_trace();
    uint64_t ticks = 1000;
    for (int i = 0; i < 100; ++i) {
        trace.init(0, 7, 4, ticks += 5, 1, 1, 100);
        for (const int inside : {0, 2, 1}) {
            trace.start(0, 7, 1, ticks += 5);
            if (inside == 1)
                trace.start(0, 7, 1, ticks += 5);
            for (int leaf = 0; leaf < (inside > 0 ? 2 : 0); ++leaf) {
                trace.start(0, 7, 2, ticks += 5);
                trace.stop(0, 7, 2, ticks += 20);
            }
            if (inside == 1)
                trace.stop(0, 7, 1, ticks += 5);
            trace.stop(0, 7, 1, ticks += 5);
        }
        trace.exit(0, 7, 4, ticks += 5);
    }
    return trace.bytes();
}
} // namespace

TEST_CASE("most slices of an even program are counted in the short ways", "[nsdump][pair]")
{
    for (const Way way : {Way::kEvents, Way::kInPlace}) {
        nsdump::TraceFile trace(source_of(even_program()));
        const nsdump::Correction correction(trace);
        nsdump::StatsCollector statistics(correction, 0);
        CountingSink sink(statistics);
        consume(trace, sink, way);
        CHECK(sink.alone >= 490); // of 100, and 400 leaves
        // Events have only leaves apart.
        CHECK(sink.with_leaves >= (way == Way::kInPlace ? 190 : 0));
        CHECK(sink.plains >= (way == Way::kInPlace ? 90 : 290));
    }
}

TEST_CASE("a START with its STOP beside it gives the slice that the stack gives", "[nsdump][pair]")
{
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, seed % 2 == 1);
        const std::string bytes = program.trace().bytes();
        const auto slices = slices_of(bytes, Way::kEvents);
        REQUIRE(slices.size() > kSteps / 10);
        REQUIRE(slices == slices_of(bytes, Way::kEventByEvent));
    }
}

TEST_CASE("slices that are taken as plain give the same figures to the bit", "[nsdump][pair]")
{
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, seed % 4 == 3);
        const std::string bytes = program.trace().bytes();
        const auto in_full = figures_in_full(bytes);
        REQUIRE(in_full.size() > 100);
        REQUIRE(plain_figures(bytes, Way::kEvents) == in_full);
    }
}

TEST_CASE("records that are read where they lie give the same slices and figures", "[nsdump][pair]")
{
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, seed % 4 == 3, 1);
        const std::string bytes = program.trace().bytes();
        REQUIRE(slices_of(bytes, Way::kInPlace) == slices_of(bytes, Way::kEventByEvent));
        REQUIRE(plain_figures(bytes, Way::kInPlace) == figures_in_full(bytes));
    }
}

TEST_CASE("faults in records that are read where they lie are counted as in events",
          "[nsdump][pair]")
{
    std::vector<uint64_t> sum(6);
    for (unsigned seed = 0; seed < kTraces; ++seed) {
        MadeUpProgram program(seed, false, 1);
        add_faults(program.trace(), seed);
        const std::string bytes = program.trace().bytes();
        const auto faults = faults_of(bytes, Way::kInPlace);
        REQUIRE(faults == faults_of(bytes, Way::kEvents));
        REQUIRE(slices_of(bytes, Way::kInPlace) == slices_of(bytes, Way::kEvents));
        for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += faults[i];
    }
    for (const uint64_t one : sum)
        CHECK(one > 0); // each kind occurred
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
    for (const Way way : {Way::kEvents, Way::kInPlace})
        REQUIRE(plain_figures(bytes, way) == figures_in_full(bytes));
}
