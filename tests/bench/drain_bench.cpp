// SPDX-License-Identifier: MIT
// What the drain moves for each second of its own CPU time, and whether a producer notices it.
#include "machine.hpp"

#include <fstream>

#include <nsprobe/probe.h>

#include "figure.hpp"

namespace
{
constexpr int kBatch = 10000;
constexpr double kSeconds = 1.5;

// CPU time of the drain thread so far, from the scheduler.
double drain_cpu_s()
{
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        if (name != "nsp-drain")
            continue;
        double on_cpu_ns = 0;
        std::ifstream(task.path() / "schedstat") >> on_cpu_ns;
        return on_cpu_ns / 1e9;
    }
    return 0;
}

double produce_batch()
{
    const std::uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kBatch; ++i)
        NET_SLICE_START(drain_bench);
    return static_cast<double>(bench::fenced_ticks() - begin) / kBatch;
}

std::vector<double> produce_for(double seconds)
{
    std::vector<double> ticks;
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds)
        ticks.push_back(produce_batch());
    return ticks;
}
} // namespace

int main()
{
    const bench::TmpfsFile file("netslice-drain-bench.nsl");
    bench::open_session("output=" + file.path() + " ring=64M");
    bench::pin_to_last_cpu();
    const double begin_s = drain_cpu_s();
    const std::vector<double> ticks = produce_for(kSeconds);
    /* The drain goes on after the last record until the rings are empty; the thread ends in close(). */
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double busy_s = drain_cpu_s() - begin_s;
    nsp_session_counts counts;
    nsp_session_close(&counts);
    const double bytes = static_cast<double>(counts.drained) * 16;

    bench::print({"drain_gbytes_per_cpu_second", bytes / busy_s / 1e9, "GB/s",
                  {{"drained_bytes", bytes}, {"drain_cpu_s", busy_s}, {"issued", counts.issued}, {"drained", counts.drained},
                   {"lost_full", counts.lost[NSLICE_LOST_FULL]}},
                  "16-byte records at full rate from one core to a file on tmpfs"},
                 "at least", 1.0);
    /* A producer that waited would have batches far from the rest; the tail is what preemption leaves. */
    bench::print({"producer_p99_over_median", bench::quantile(ticks, 0.99) / bench::median(ticks), "ratio",
                  {{"median_ticks", bench::median(ticks)}, {"p99_ticks", bench::quantile(ticks, 0.99)},
                   {"batches", ticks.size()}},
                  "batches of 10,000 records while the drain runs: nothing in a probe waits for it"});
    return 0;
}
