// SPDX-License-Identifier: MIT
// The cost of a probe: on, in each clock mode relative to the bare clock read of that mode, and
// off.
//
// The core's sibling thread may belong to a neighbour that cannot be seen or stopped from here.  A
// loop of plain additions needs the whole core, so it slows down as soon as the core is shared; it
// runs before and after each probe batch and shows which batches had the core to themselves.  The
// figure with the bar uses every batch.
#include "machine.hpp"

#include <nsprobe/probe.h>

#include "figure.hpp"

namespace
{
constexpr int kEvents = 10000;
constexpr int kBatches = 1001;
constexpr int kWarmBatches = 20;
constexpr size_t kLeastAlone = 50;
constexpr double kAloneTolerance = 1.1; // a shared core takes 1.6 times as long

double per_event(uint64_t begin)
{
    return double(bench::fenced_ticks() - begin) / kEvents;
}

double time_empty_loop()
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("" ::: "memory");
    return per_event(begin);
}

double time_fast_clock()
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("rdtsc" ::: "rax", "rdx");
    return per_event(begin);
}

double time_ordered_clock()
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("lfence\n\trdtsc\n\tlfence" ::: "rax", "rdx", "memory");
    return per_event(begin);
}

double time_probe()
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        NET_SLICE_START(bench);
    return per_event(begin);
}

double time_additions()
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile(
            "inc %0\n\tinc %1\n\tinc %2\n\tinc %3\n\tinc %0\n\tinc %1\n\tinc %2\n\tinc %3"
            : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    return per_event(begin);
}

struct Series {
    std::vector<double> empty, clock, additions,
        probe; // one of each per batch; additions: the slower of two
};

// Alternates clock and probe without a pause: a core that slept starts with cold caches.
Series measure(double (*clock)())
{
    Series series;
    for (int i = 0; i < kBatches; ++i) {
        series.empty.push_back(time_empty_loop());
        series.clock.push_back(clock());
        const double before = time_additions();
        series.probe.push_back(time_probe());
        series.additions.push_back(std::max(before, time_additions()));
    }
    return series;
}

nlohmann::json raw(const Series &series)
{
    return {{"batches", series.probe.size()},
            {"empty_loop_ticks", bench::median(series.empty)},
            {"clock_ticks", bench::median(series.clock)},
            {"record_ticks", bench::median(series.probe)},
            {"record_ticks_p10", bench::quantile(series.probe, 0.1)},
            {"record_ticks_p90", bench::quantile(series.probe, 0.9)}};
}

Series core_alone(const Series &all)
{
    const double limit = kAloneTolerance * bench::quantile(all.additions, 0);
    Series alone;
    for (size_t i = 0; i < all.additions.size(); ++i) {
        if (all.additions[i] > limit)
            continue;
        alone.empty.push_back(all.empty[i]);
        alone.clock.push_back(all.clock[i]);
        alone.probe.push_back(all.probe[i]);
    }
    return alone;
}

double ratio(const Series &series)
{
    return bench::median(series.probe) / bench::median(series.clock);
}

double off_ns(const Series &series)
{
    static const double per_ns = bench::ticks_per_ns();
    return (bench::median(series.probe) - bench::median(series.empty)) / per_ns;
}

struct Question {
    std::string figure, unit, note;
    double (*value)(const Series &);
    const char *sense;
    double bar;
};

void print_all_and_core_alone(const Question &question, const Series &all)
{
    bench::print({question.figure, question.value(all), question.unit, raw(all), question.note},
                 question.sense, question.bar);
    const std::string name = question.figure + "_core_alone";
    const Series alone = core_alone(all);
    if (alone.probe.size() < kLeastAlone) {
        bench::print_skipped(name, "the core's other thread was busy nearly all the time: only " +
                                       std::to_string(alone.probe.size()) +
                                       " batches had the core to themselves");
        return;
    }
    bench::print({name, question.value(alone), question.unit, raw(alone),
                  "only batches of the above in which a loop of additions had the whole core"},
                 question.sense, question.bar);
}

// The producer is pinned and the drain thread is not, so it can run elsewhere.
Series on_last_cpu(double (*clock)(), bool is_warming)
{
    Series series;
    std::thread([&] {
        bench::pin_to_last_cpu();
        for (int i = 0; is_warming && i < kWarmBatches; ++i)
            time_probe();
        series = measure(clock);
    }).join();
    return series;
}

Series with_session(const char *mode, double (*clock)())
{
    const bench::TmpfsFile file("netslice-probe-bench.nsl");
    bench::open_session("output=" + file.path() + " ring=32M clock=" + mode);
    Series series = on_last_cpu(clock, true);
    nsp_session_counts counts;
    nsp_session_close(&counts);
    if (counts.drained != counts.issued) {
        std::fprintf(stderr, "%s: %llu records lost because a ring was full\n", mode,
                     static_cast<unsigned long long>(counts.issued - counts.drained));
        std::exit(1);
    }
    return series;
}
} // namespace

int main()
{
    print_all_and_core_alone({"probe_off_ns", "ns", "no session open; the empty loop is subtracted",
                              off_ns, "below", 0.3},
                             on_last_cpu(time_fast_clock, false));
    print_all_and_core_alone(
        {"probe_record_ratio", "ratio to rdtsc",
         "16-byte record into the per-CPU ring, batches of 10,000, medians, with a running drain",
         ratio, "at most", 1.05},
        with_session("fast", time_fast_clock));
    const Series ordered = with_session("ordered", time_ordered_clock);
    bench::print({"probe_ordered_ratio", ratio(ordered), "ratio to lfence;rdtsc;lfence",
                  raw(ordered), "as above, clock mode ordered"});
    return 0;
}
