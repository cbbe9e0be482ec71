// SPDX-License-Identifier: MIT
// Calibration: records of programs that run one behind the other on a tracepoint -> the time
// between them.
#include "calibration.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>

#include <bpf/libbpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nsbpf/recorder.hpp"
#include "programs.hpp"

namespace nsbpf
{
namespace
{
constexpr int kBatches = 40;
constexpr int kCalls = 16; // of a batch: their records fit into the smallest ring
constexpr double kUnit = 1024;

struct Sums {
    uint16_t batches;
    int64_t sum, squares;
};

// As nsmod's: a fifth at either end is left out of the sum; the squares are winsorised.
Sums sum_up(std::vector<double> samples)
{
    std::ranges::sort(samples);
    const size_t trimmed = samples.size() / 5, end = samples.size() - trimmed;
    const double sum = std::accumulate(samples.begin() + ptrdiff_t(trimmed),
                                       samples.begin() + ptrdiff_t(end), 0.0);
    for (double &sample : samples)
        sample = std::clamp(sample, samples[trimmed], samples[end - 1]);
    const double mean =
        std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
    double squares = 0;
    for (const double sample : samples)
        squares += (sample - mean) * (sample - mean);
    return {uint16_t(end - trimmed), std::llround(sum), std::llround(squares)};
}

// Mean time from one record to the next of the same call, in ns; below zero: there was none.
double mean_gap_ns(const std::vector<uint64_t> &words)
{
    uint64_t gaps_ns = 0, gaps = 0;
    const size_t of_call = size_t{kCalibrating} * NSLICE_HEAD_WORDS;
    for (size_t call = 0; call + of_call <= words.size(); call += of_call) {
        gaps_ns += words[call + of_call - NSLICE_HEAD_WORDS] - words[call];
        gaps += kCalibrating - 1;
    }
    return gaps == 0 ? -1 : double(gaps_ns) / double(gaps);
}

std::vector<double> measure(MappedRing &ring)
{
    std::vector<double> means_ns;
    for (int batch = 0; batch < kBatches; ++batch) {
        for (int call = 0; call < kCalls; ++call)
            syscall(SYS_getppid);
        if (const double mean_ns = mean_gap_ns(ring.take_words()); mean_ns >= 0)
            means_ns.push_back(mean_ns);
    }
    return means_ns;
}

void append_entries(std::string &payload, uint32_t cpu, const std::vector<double> &means_ns,
                    double ticks_per_ns)
{
    const auto in_units = [&](double factor) {
        std::vector<double> scaled;
        for (const double mean_ns : means_ns)
            scaled.push_back(mean_ns * ticks_per_ns * kUnit * factor);
        return sum_up(std::move(scaled));
    };
    const Sums one = in_units(1), pair = in_units(2);
    for (const uint8_t kind :
         {NSLICE_KIND_START, NSLICE_KIND_MARK, NSLICE_KIND_INIT, NSLICE_KIND_EXIT}) {
        const bool is_pair = kind == NSLICE_KIND_START;
        nslice_kernel_calibration_entry entry = {};
        entry.cpu = cpu;
        entry.kind = kind;
        entry.batches = one.batches;
        entry.inner_sum = is_pair ? one.sum : 0;
        entry.inner_squares = is_pair ? one.squares : 0;
        entry.outer_sum = is_pair ? pair.sum : one.sum;
        entry.outer_squares = is_pair ? pair.squares : one.squares;
        payload.append(reinterpret_cast<const char *>(&entry), sizeof(entry));
    }
}

// The CPUs that this thread may use, until destruction.
class OwnCpus
{
public:
    OwnCpus() { sched_getaffinity(0, sizeof(all_), &all_); }
    ~OwnCpus() { sched_setaffinity(0, sizeof(all_), &all_); }
    OwnCpus(const OwnCpus &) = delete;
    OwnCpus &operator=(const OwnCpus &) = delete;

    bool move_to(uint32_t cpu)
    {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &all_) &&
               sched_setaffinity(0, sizeof(one), &one) == 0;
    }

private:
    cpu_set_t all_;
};
} // namespace

std::string calibrate(Programs &programs, Rings &rings, uint32_t phase, const ClockLine &clock)
{
    nslice_file_kernel_calibration head = {};
    head.phase = phase;
    timespec now;
    head.ticks = read_ticks();
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    head.mono_ns = uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
    std::string entries;
    OwnCpus cpus;
    const Programs::Calibrating attached = programs.attach_calibration(uint32_t(gettid()));
    for (uint32_t cpu = 0; cpu < rings.size(); ++cpu) {
        if (!cpus.move_to(cpu))
            continue;
        measure(*rings[cpu]); // warms up
        if (const auto means_ns = measure(*rings[cpu]); means_ns.size() > kBatches / 2)
            append_entries(entries, cpu, means_ns, clock.ticks_per_ns());
    }
    head.entries = uint32_t(entries.size() / sizeof(nslice_kernel_calibration_entry));
    return std::string(reinterpret_cast<const char *>(&head), sizeof(head)) + entries;
}
} // namespace nsbpf
