// SPDX-License-Identifier: MIT
// Bytes that the drain moves per second of its own CPU time, and its effect on a producer.
#include "machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
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

// Pages for the trace.  A hypervisor reclaims pages that a guest has freed for a while; getting
// them back costs a microsecond per page, which is not the drain's cost.  So the trace grows only
// as fast as another file shrinks.
class Pages
{
public:
    explicit Pages(const std::string &trace)
        : trace_(trace), fd_(open(pool_.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600))
    {
        constexpr double kWantedBytes = 4e9;
        const double available = double(sysconf(_SC_AVPHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
        const std::vector<char> piece(1 << 18);
        while (bytes_ < std::min(kWantedBytes, available / 2) &&
               write(fd_, piece.data(), piece.size()) > 0)
            bytes_ += piece.size();
        thread_ = std::thread([this] { give(); });
    }
    ~Pages()
    {
        is_done_ = true;
        thread_.join();
        close(fd_);
    }

private:
    // Slightly ahead of the trace.
    void give()
    {
        constexpr uint64_t kAheadBytes = 64 << 20;
        for (uint64_t given = 0; !is_done_;
             std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            std::error_code error;
            const uint64_t wanted =
                std::min(bytes_, std::filesystem::file_size(trace_, error) + kAheadBytes);
            if (!error && wanted > given && ftruncate(fd_, off_t(bytes_ - wanted)) == 0)
                given = wanted;
        }
    }

    bench::TmpfsFile pool_{"netslice-drain-bench.pages"};
    std::string trace_;
    int fd_;
    uint64_t bytes_ = 0;
    std::atomic<bool> is_done_{false};
    std::thread thread_;
};

double produce_batch()
{
    const uint64_t begin = bench::fenced_ticks();
    for (int i = 0; i < kBatch; ++i)
        NET_SLICE_START(drain_bench);
    return double(bench::fenced_ticks() - begin) / kBatch;
}

std::vector<double> produce_for(double seconds)
{
    std::vector<double> ticks;
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           seconds)
        ticks.push_back(produce_batch());
    return ticks;
}
} // namespace

int main()
{
    const bench::TmpfsFile file("netslice-drain-bench.nsl");
    const Pages pages(file.path());
    bench::open_session("output=" + file.path() + " ring=64M");
    bench::pin_to_last_cpu();
    const double begin_s = drain_cpu_s();
    const std::vector<double> ticks = produce_for(kSeconds);
    /* The drain continues after the last record until the rings are empty; the thread ends in
     * close(). */
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double busy_s = drain_cpu_s() - begin_s;
    nsp_session_counts counts;
    nsp_session_close(&counts);
    const double bytes = double(counts.drained) * 16;

    bench::print({"drain_gbytes_per_cpu_second",
                  bytes / busy_s / 1e9,
                  "GB/s",
                  {{"drained_bytes", bytes},
                   {"drain_cpu_s", busy_s},
                   {"issued", counts.issued},
                   {"drained", counts.drained},
                   {"lost_full", counts.lost[NSLICE_LOST_FULL]}},
                  "16-byte records at full rate from one core to a file on tmpfs with previously "
                  "used pages"},
                 "at least", 1.0);
    /* If the producer waited, some batches would be far from the rest; the tail is due to
     * preemption. */
    bench::print({"producer_p99_over_median",
                  bench::quantile(ticks, 0.99) / bench::median(ticks),
                  "ratio",
                  {{"median_ticks", bench::median(ticks)},
                   {"p99_ticks", bench::quantile(ticks, 0.99)},
                   {"batches", ticks.size()}},
                  "batches of 10,000 records while the drain runs; probes never wait for it"});
    return 0;
}
