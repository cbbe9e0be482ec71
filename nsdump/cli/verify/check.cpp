// SPDX-License-Identifier: MIT
// verify: one check of one counter source -> processes that run known slices -> its outcome.
#include "cli/verify/check.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <sched.h>

#include "analyse/correct/subtract.hpp"
#include "analyse/pair/user_and_kernel.hpp"
#include "cli/verify/worker_process.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"

namespace nsdump::verify
{
namespace
{
using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.7;      // of slices, in each check
constexpr double kSecondsAgain = 4;   // the same, where the disturbance was too rare at first
constexpr double kMostSeconds = 30;   // until a worker counts as stuck
constexpr unsigned kRounds = 5000;    // whose records fit a ring
constexpr size_t kMostCpus = 4;       // a session calibrates a few CPUs only
constexpr int kLongestStepped = 1000; // a step takes about 10 us
constexpr uint64_t kLeastDisturbances = 3;
// So many events that the kernel does not throttle the counter, and no multiple of a slice.
constexpr uint64_t kCounterPeriod = 5000011;

constexpr Check kChecks[] = {
    {"exact", "slices of known length"},
    {"migration", "the same while another thread moves this one between CPUs",
     Disturbance::kMigration},
    {"preemption", "the same while another thread competes for the CPU", Disturbance::kPreemption,
     1, kLongest},
    {"overflow", "the same with registers that overflow", Disturbance::kNone, 1, kLongest, true},
    {"processes", "two processes on one CPU, each with its own counts", Disturbance::kNone, 2,
     kLongest},
};

int longest_of(const Check &check, nsp_counter_source source)
{
    return source == NSP_SOURCE_STEP ? std::min(check.longest, kLongestStepped) : check.longest;
}

std::vector<unsigned> own_cpus()
{
    std::vector<unsigned> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpus.size() < kMostCpus; ++cpu)
        if (CPU_ISSET(cpu, &set))
            cpus.push_back(cpu);
    return cpus;
}

// Sink of the pairer: every slice's net count -> the comparison.
class Counts
{
public:
    Counts(TraceFile &trace, const Correction &correction, Comparison &comparison)
        : trace_(trace), correction_(correction), comparison_(comparison)
    {
    }
    void slice(const Slice &slice)
    {
        const std::string &name = trace_.names()[slice.name].text;
        const FieldConstants &constants = correction_.of(slice.cpu_index, 1);
        migrations_ += slice.is_migrated;
        if (!slice.counters || !constants.is_known)
            comparison_.add_uncounted(name);
        else
            comparison_.add(name, slice.depth,
                            net_of(double(slice.counters[0]), slice.inside, constants));
    }
    void unit(const Unit &) {}
    void mark(NameId, uint64_t) {}
    uint64_t migrations() const { return migrations_; }

private:
    TraceFile &trace_;
    const Correction &correction_;
    Comparison &comparison_;
    uint64_t migrations_ = 0;
};

uint64_t compare(const std::string &path, Comparison &comparison)
{
    TraceFile trace(path);
    const Correction correction(trace, nullptr);
    Counts counts(trace, correction, comparison);
    UserAndKernelPairs sides(trace, counts, counts);
    Merger merger(trace, pairing_order(trace));
    Run run;
    while (merger.next(run))
        sides.consume(run);
    sides.finish();
    return counts.migrations();
}

Outcome unavailable(const std::string &reason)
{
    return {Verdict::kUnavailable, reason};
}

// x86-64's PMUs; single-stepping and arm64's count exactly.
bool overcounts(nsp_counter_source source)
{
#if defined(__x86_64__)
    return source != NSP_SOURCE_STEP;
#else
    (void)source;
    return false;
#endif
}

Work work_of(const Check &check, nsp_counter_source source, double seconds)
{
    Work work;
    work.source = source;
    work.cpus = own_cpus();
    if (check.disturbance == Disturbance::kPreemption || check.workers > 1)
        work.cpus.resize(1);
    work.disturbance = check.disturbance;
    work.workers = check.workers;
    work.longest = longest_of(check, source);
    work.rounds = kRounds;
    work.seconds = seconds * check.workers;
    work.counter_period = check.overflows ? kCounterPeriod : 0;
    return work;
}

double instructions_per_round(const Truth &truth)
{
    double sum = 0;
    for (const auto &[name, instructions] : truth)
        if (name.starts_with("outer_"))
            sum += instructions;
    return sum;
}

// What the check is about has to have happened; adds it to the text.
Outcome exercised(const Check &check, const Truth &truth, const WorkerReport &report,
                  const Disturbances &disturbances, Outcome outcome)
{
    if (outcome.verdict != Verdict::kPassed)
        return outcome;
    uint64_t times = kLeastDisturbances;
    const char *what = "", *source = "";
    if (check.disturbance == Disturbance::kMigration) {
        times = disturbances.migrations;
        what = "migration";
    } else if (check.disturbance == Disturbance::kPreemption || check.workers > 1) {
        times = disturbances.preemptions;
        what = "preemption";
    } else if (check.overflows) {
        times = uint64_t(instructions_per_round(truth) * double(report.rounds) / kCounterPeriod);
        what = "overflow";
        source = " by the instructions executed"; // the kernel does not report them
    }
    if (*what)
        outcome.text += fmt::format(", {}{}", command::counted(times, what), source);
    if (times >= kLeastDisturbances)
        return outcome;
    outcome = unavailable(
        fmt::format("only {}{}: proves nothing", command::counted(times, what), source));
    outcome.is_inconclusive = true;
    return outcome;
}

Outcome outcome_of(const Check &check, nsp_counter_source source, const Truth &truth,
                   const WorkerProcess &worker, const WorkerReport &report)
{
    if (const std::string fault = worker.fault(); !fault.empty())
        return {Verdict::kFailed, fault};
    if (*report.refusal)
        return unavailable(report.refusal);
    if (!report.is_complete)
        return {Verdict::kFailed, "the trace could not be written"};
    Comparison comparison(truth);
    comparison.add_lost(report.lost);
    Disturbances disturbances = {0, report.preemptions, report.interrupts};
    disturbances.migrations = compare(worker.trace(), comparison);
    return exercised(check, truth, report, disturbances,
                     comparison.judge(overcounts(source), disturbances));
}

void wait_for(std::vector<std::unique_ptr<WorkerProcess>> &workers)
{
    const auto begin = Clock::now();
    const auto is_over = [](const auto &worker) { return worker->is_over(); };
    while (!std::all_of(workers.begin(), workers.end(), is_over) &&
           Clock::now() - begin < std::chrono::duration<double>(kMostSeconds)) {
        if (command_was_interrupted())
            throw command::Interrupted();
        command_pause(2);
    }
    if (command_was_interrupted())
        throw command::Interrupted();
}

Outcome run_workers(const Check &check, nsp_counter_source source, const Truth &truth,
                    double seconds)
{
    const Work work = work_of(check, source, seconds);
    Reports reports;
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    for (unsigned number = 0; number < check.workers; ++number)
        workers.push_back(std::make_unique<WorkerProcess>(work, reports.shared(), number));
    wait_for(workers);
    // One wrong count is enough, whatever the other processes could show.
    Outcome worst;
    for (unsigned number = 0; number < check.workers; ++number) {
        const Outcome outcome =
            outcome_of(check, source, truth, *workers[number], reports.shared().of[number]);
        if (number == 0 || outcome.verdict == Verdict::kFailed || worst.verdict == Verdict::kPassed)
            worst = outcome;
        if (worst.verdict == Verdict::kFailed)
            break;
    }
    return worst;
}
} // namespace

std::span<const Check> all_checks()
{
    return kChecks;
}

Truth truth_of(const Check &check, nsp_counter_source source)
{
    return known_truth(longest_of(check, source));
}

Outcome run_check(const Check &check, nsp_counter_source source, const Truth &truth)
{
    if (check.overflows && source != NSP_SOURCE_RDPMC && source != NSP_SOURCE_PERF_READ)
        return unavailable("this source has no register whose overflow could be set");
    if (check.disturbance == Disturbance::kMigration && own_cpus().size() < 2)
        return unavailable("requires two CPUs");
    const Outcome first = run_workers(check, source, truth, kSeconds);
    return first.is_inconclusive ? run_workers(check, source, truth, kSecondsAgain) : first;
}
} // namespace nsdump::verify
