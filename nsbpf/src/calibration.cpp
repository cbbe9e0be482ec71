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

// Of one batch, or of all.
struct Costs {
    std::vector<double> first_ns;  // a record that its own program writes
    std::vector<double> second_ns; // one that follows another in the same program
};

void take_batch(const std::vector<uint64_t> &words, Costs &costs)
{
    constexpr size_t kRecords = kCalibrating + 1, kWords = kRecords * NSLICE_HEAD_WORDS;
    if (words.size() != size_t{kCalls} * kWords)
        return; // something was lost
    uint64_t first_ns = 0, second_ns = 0;
    for (size_t call = 0; call < words.size(); call += kWords) {
        const auto time_ns = [&](size_t record) {
            return words[call + record * NSLICE_HEAD_WORDS];
        };
        first_ns += time_ns(kCalibrating - 1) - time_ns(0);
        second_ns += time_ns(kCalibrating) - time_ns(kCalibrating - 1);
    }
    costs.first_ns.push_back(double(first_ns) / (kCalls * (kCalibrating - 1)));
    costs.second_ns.push_back(double(second_ns) / kCalls);
}

Costs measure(MappedRing &ring)
{
    Costs costs;
    for (int batch = 0; batch < kBatches; ++batch) {
        for (int call = 0; call < kCalls; ++call)
            syscall(SYS_getppid);
        take_batch(ring.take_words(), costs);
    }
    return costs;
}

// A unit's EXIT always follows another record.
void append_entries(std::string &payload, uint32_t cpu, const Costs &costs, double ticks_per_ns)
{
    const auto in_units = [&](const std::vector<double> &means_ns, double factor) {
        std::vector<double> scaled;
        for (const double mean_ns : means_ns)
            scaled.push_back(mean_ns * ticks_per_ns * kUnit * factor);
        return sum_up(std::move(scaled));
    };
    const Sums first = in_units(costs.first_ns, 1), pair = in_units(costs.first_ns, 2),
               second = in_units(costs.second_ns, 1), none = {first.batches, 0, 0};
    const auto append = [&](uint8_t kind, const Sums &inner, const Sums &outer) {
        nslice_kernel_calibration_entry entry = {};
        entry.cpu = cpu;
        entry.kind = kind;
        entry.batches = outer.batches;
        entry.inner_sum = inner.sum;
        entry.inner_squares = inner.squares;
        entry.outer_sum = outer.sum;
        entry.outer_squares = outer.squares;
        payload.append(reinterpret_cast<const char *>(&entry), sizeof(entry));
    };
    append(NSLICE_KIND_START, first, pair);
    append(NSLICE_KIND_MARK, none, first);
    append(NSLICE_KIND_INIT, none, first);
    append(NSLICE_KIND_EXIT, none, second);
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
        rings[cpu]->begin();
        measure(*rings[cpu]); // warms up
        if (const Costs costs = measure(*rings[cpu]); costs.first_ns.size() > kBatches / 2)
            append_entries(entries, cpu, costs, clock.ticks_per_ns());
    }
    head.entries = uint32_t(entries.size() / sizeof(nslice_kernel_calibration_entry));
    return std::string(reinterpret_cast<const char *>(&head), sizeof(head)) + entries;
}
} // namespace nsbpf
