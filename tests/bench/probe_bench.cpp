// SPDX-License-Identifier: MIT
// What a probe costs: on in each clock mode against the bare clock read of that mode, and off.
#include "machine.hpp"

#include <nsprobe/probe.h>

#include "figure.hpp"

namespace
{
constexpr int kEvents = 10000;
constexpr int kBatches = 1001;
constexpr int kWarmBatches = 20;

double per_event(std::uint64_t begin)
{
    return static_cast<double>(bench::fenced_ticks() - begin) / kEvents;
}

double time_empty_loop()
{
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("" ::: "memory");
    return per_event(begin);
}

double time_fast_clock()
{
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("rdtsc" ::: "rax", "rdx");
    return per_event(begin);
}

double time_ordered_clock()
{
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        __asm__ volatile("lfence\n\trdtsc\n\tlfence" ::: "rax", "rdx", "memory");
    return per_event(begin);
}

double time_probe()
{
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kEvents; ++i)
        NET_SLICE_START(bench);
    return per_event(begin);
}

struct Series {
    std::vector<double> empty, clock, probe;
};

// Clock and probe in turn, without a rest: a core that slept begins with cold caches.
Series measure(double (*clock)())
{
    Series series;
    for (int i = 0; i < kBatches; ++i) {
        series.empty.push_back(time_empty_loop());
        series.clock.push_back(clock());
        series.probe.push_back(time_probe());
    }
    return series;
}

nlohmann::json raw(const Series &series)
{
    return {{"empty_loop_ticks", bench::median(series.empty)},
            {"clock_ticks", bench::median(series.clock)},
            {"record_ticks", bench::median(series.probe)},
            {"record_ticks_p10", bench::quantile(series.probe, 0.1)},
            {"record_ticks_p90", bench::quantile(series.probe, 0.9)}};
}

double ratio(const Series &series)
{
    return bench::median(series.probe) / bench::median(series.clock);
}

// The producer is pinned and the drain thread is not: it may run elsewhere.
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
        std::fprintf(stderr, "%s: %llu records lost, so some probes met a full ring\n", mode,
                     static_cast<unsigned long long>(counts.issued - counts.drained));
        std::exit(1);
    }
    return series;
}
} // namespace

int main()
{
    const double per_ns = bench::ticks_per_ns();
    const Series off = on_last_cpu(time_fast_clock, false);
    const double off_ns = (bench::median(off.probe) - bench::median(off.empty)) / per_ns;
    bench::print({"probe_off_ns", off_ns, "ns", raw(off), "no session open; the empty loop is taken out"}, "below", 1);

    const Series fast = with_session("fast", time_fast_clock);
    bench::print({"probe_record_ratio", ratio(fast), "ratio to rdtsc", raw(fast),
                  "16-byte record into the per-CPU ring, batches of 10,000, medians of 1001, ring drained meanwhile"},
                 "at most", 1.05);
    const Series ordered = with_session("ordered", time_ordered_clock);
    bench::print({"probe_ordered_ratio", ratio(ordered), "ratio to lfence;rdtsc;lfence", raw(ordered),
                  "as above, clock mode ordered"});
    return 0;
}
