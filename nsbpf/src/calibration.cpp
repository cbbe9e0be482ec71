// SPDX-License-Identifier: MIT
// Calibration: records of programs on a tracepoint, one behind the other and in one program -> the
// time between them.
#include "calibration.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include <bpf/libbpf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "functions/batch_sums.hpp"
#include "functions/function_calibration.hpp"
#include "functions/functions.hpp"
#include "nsbpf/recorder.hpp"
#include "point_table.hpp"
#include "programs.hpp"
#include "programs/points.h"

namespace nsbpf
{
namespace
{
constexpr int kBatches = 40;
constexpr int kCalls = 12; // of a batch: their records fit into the smallest ring

// What the programs write in one call, between two records.
constexpr uint32_t kBetweenWork[] = {NSBPF_NO_RECORDS, NSBPF_ENDS, NSBPF_MARKS, NSBPF_INITS};
constexpr size_t kKinds = std::size(kBetweenWork);

// Means of batches, in ns.
struct Costs {
    std::vector<double> with_call; // a record in a program of its own
    // In one program, by kind (0: START, STOP or EXIT) and by whether it is alone, without work
    // around it.
    std::array<std::array<std::vector<double>, kKinds - 1>, 2> inside;
    std::vector<double> inner_alone; // from a record to the next one
};

// Of one batch: the mean time from the first record of a call to the last one.  Nothing if records
// were lost.
std::optional<double> mean_of_calls(MappedRing &ring, size_t records)
{
    for (int call = 0; call < kCalls; ++call)
        syscall(SYS_getppid);
    const std::vector<uint64_t> words = ring.take_words();
    uint64_t sum_ns = 0;
    size_t seen = 0, calls = 0;
    uint64_t first_ns = 0;
    for (size_t at = 0; at + 1 < words.size(); at += NSLICE_RECORD_WORDS(words[at + 1])) {
        if (seen % records == 0)
            first_ns = words[at];
        else if (seen % records == records - 1) {
            sum_ns += words[at] - first_ns;
            ++calls;
        }
        ++seen;
    }
    return seen == kCalls * records ? std::optional(double(sum_ns) / double(calls)) : std::nullopt;
}

// Without records between the two, and with records of each kind, in turn.
void take_inside(const Programs::Calibrating &calibrating, MappedRing &ring, uint32_t by_probes,
                 bool is_alone, Costs &costs)
{
    std::array<std::optional<double>, kKinds> means;
    for (size_t i = 0; i < kKinds; ++i) {
        const bool has_records = kBetweenWork[i] != NSBPF_NO_RECORDS;
        calibrating.set_mode(kBetweenWork[i] | (is_alone ? NSBPF_ALONE : 0) | by_probes);
        means[i] = mean_of_calls(ring, 2 + (has_records ? NSBPF_CALIBRATED_RECORDS : 0));
    }
    if (!std::ranges::all_of(means, [](const auto &mean) { return mean.has_value(); }))
        return;
    if (is_alone)
        costs.inner_alone.push_back(*means[0]);
    for (size_t i = 1; i < kKinds; ++i)
        costs.inside[is_alone][i - 1].push_back((*means[i] - *means[0]) / NSBPF_CALIBRATED_RECORDS);
}

// `by_probes`: NSBPF_PROBES or 0.
Costs measure(const Programs::Calibrating &calibrating, MappedRing &ring, uint32_t by_probes)
{
    Costs costs;
    for (int batch = 0; batch < kBatches; ++batch) {
        calibrating.set_mode(NSBPF_CALLS_OF_PROGRAMS);
        if (const auto mean = mean_of_calls(ring, kCalibrating))
            costs.with_call.push_back(*mean / (kCalibrating - 1));
        for (const bool is_alone : {false, true})
            take_inside(calibrating, ring, by_probes, is_alone, costs);
    }
    return costs;
}

bool is_complete(const Costs &costs)
{
    constexpr size_t kLeast = kBatches / 2;
    return costs.with_call.size() > kLeast && costs.inside[0][0].size() > kLeast &&
           costs.inner_alone.size() > kLeast;
}

// START and STOP are the same instructions: a slice contains as much of them as one record costs,
// and a pair costs twice as much.
class Entries
{
public:
    Entries(std::string &payload, uint32_t cpu, double ticks_per_ns)
        : payload_(payload), cpu_(cpu), ticks_per_ns_(ticks_per_ns)
    {
    }
    void append_pair(uint8_t flags, const std::vector<double> &inner_ns,
                     const std::vector<double> &record_ns)
    {
        append(NSLICE_KIND_START | flags, in_units(inner_ns, 1), in_units(record_ns, 2));
    }
    void append_record(unsigned kind, const std::vector<double> &record_ns)
    {
        const Sums outer = in_units(record_ns, 1);
        append(kind, {outer.batches, 0, 0}, outer);
    }

private:
    Sums in_units(const std::vector<double> &means_ns, double factor) const
    {
        return sum_up_ticks(means_ns, ticks_per_ns_ * factor);
    }
    void append(unsigned kind, const Sums &inner, const Sums &outer)
    {
        append_entry(payload_, cpu_, uint8_t(kind), inner, outer);
    }

    std::string &payload_;
    uint32_t cpu_;
    double ticks_per_ns_;
};

// A record with the call of its program was only measured without further words: these cost as much
// as inside a program.
std::vector<double> with_words(std::vector<double> with_call, const Costs &costs, size_t kind)
{
    const auto mean = [](const std::vector<double> &values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    };
    const double more = mean(costs.inside[1][kind]) - mean(costs.inside[1][0]);
    for (double &one : with_call)
        one += more;
    return with_call;
}

void append_entries(Entries entries, const Costs &costs)
{
    constexpr unsigned kKindOf[] = {NSLICE_KIND_EXIT, NSLICE_KIND_MARK, NSLICE_KIND_INIT};
    entries.append_pair(0, costs.with_call, costs.with_call);
    for (size_t i = 0; i < kKinds - 1; ++i)
        entries.append_record(kKindOf[i], with_words(costs.with_call, costs, i));
    for (const bool is_alone : {false, true}) {
        const unsigned flags = NSLICE_ENTRY_IN_PROGRAM | (is_alone ? NSLICE_ENTRY_ALONE : 0);
        const auto &inside = costs.inside[is_alone];
        entries.append_pair(uint8_t(flags), is_alone ? costs.inner_alone : inside[0], inside[0]);
        for (size_t i = 0; i < kKinds - 1; ++i)
            entries.append_record(kKindOf[i] | flags, inside[i]);
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

// Afterwards, since the return of a function may be a system call, where the programs above are.
void calibrate_functions(Programs &programs, Rings &rings, const ClockLine &clock, OwnCpus &cpus,
                         std::string &entries)
{
    FunctionLinks *const links = programs.calibrated_functions();
    if (!links)
        return;
    {
        const FunctionCalibration functions(*links);
        for (uint32_t cpu = 0; cpu < rings.size(); ++cpu)
            if (cpus.move_to(cpu))
                functions.measure(*rings[cpu], cpu, clock, entries);
    }
    programs.set_functions(false);
}
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
    {
        const Programs::Calibrating attached = programs.attach_calibration(uint32_t(gettid()));
        const uint32_t by_probes = programs.groups() & programs_bit() ? NSBPF_PROBES : 0;
        for (uint32_t cpu = 0; cpu < rings.size(); ++cpu) {
            if (!cpus.move_to(cpu))
                continue;
            rings[cpu]->begin();
            measure(attached, *rings[cpu], by_probes); // warms up
            if (const Costs costs = measure(attached, *rings[cpu], by_probes); is_complete(costs))
                append_entries({entries, cpu, clock.ticks_per_ns()}, costs);
        }
    }
    calibrate_functions(programs, rings, clock, cpus, entries);
    head.entries = uint32_t(entries.size() / sizeof(nslice_kernel_calibration_entry));
    return std::string(reinterpret_cast<const char *>(&head), sizeof(head)) + entries;
}
} // namespace nsbpf
