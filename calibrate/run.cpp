// SPDX-License-Identifier: MIT
// run: plan -> passes over all cases, with what the machine did meanwhile.
#include "run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "command/signals.h"

namespace calibrate
{
namespace
{
constexpr std::uint32_t kQuickBatches = 500, kThoroughBatches = 8000;
constexpr unsigned kQuickPasses = 10, kThoroughPasses = 40, kQuickSteppingPasses = 5;
constexpr std::uint32_t kMostBatchesPerPass = 1000; // as libnsprobe's calibration
constexpr const char *kRoot = "/";

// The two clocks read together, the second between two readings of the first.
struct Instant {
    double ticks;
    double seconds;
};

Instant now()
{
    timespec raw;
    const std::uint64_t before = read_ticks();
    clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    const std::uint64_t after = read_ticks();
    return {static_cast<double>(before) + static_cast<double>(after - before) / 2,
            static_cast<double>(raw.tv_sec) + static_cast<double>(raw.tv_nsec) * 1e-9};
}

long preemptions()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

void note_spread(const std::string &name, const Series &series, RunFacts &facts)
{
    if (series.passes().size() < 2)
        return;
    const double spread = series.total().spread;
    facts.wide_figures += spread > kWideSpread;
    if (spread > facts.worst_spread) {
        facts.worst_spread = spread;
        facts.worst_figure = name;
    }
}

// Under single-stepping every pass counts the same instructions.
bool is_exact(const Series &series)
{
    const auto &passes = series.passes();
    return std::all_of(passes.begin(), passes.end(), [&](const Estimate &pass) {
        return std::fabs(pass.mean - passes.front().mean) < 1e-9;
    });
}
} // namespace

Plan make_plan(std::uint32_t batches, bool is_thorough, const std::string &counters)
{
    Plan plan;
    if (batches == 0)
        batches = is_thorough ? kThoroughBatches : kQuickBatches;
    const std::uint32_t needed = (batches + kMostBatchesPerPass - 1) / kMostBatchesPerPass;
    plan.passes = std::max(is_thorough ? kThoroughPasses : kQuickPasses, needed);
    plan.stepping_passes = is_thorough ? plan.passes : kQuickSteppingPasses;
    plan.batches_per_pass = std::max<std::uint32_t>((batches + plan.passes - 1) / plan.passes, 5);
    plan.must_have_counters = !counters.empty();
    plan.counters = counters.empty() ? "instructions" : counters;
    return plan;
}

void note_spreads(const Results &results, RunFacts &facts)
{
    for (const ClockReadRow &row : results.clock_reads)
        note_spread(row.name, row.ticks, facts);
    for (const ProbeRow &row : results.probes) {
        const Setting &set = row.setting;
        note_spread(fmt::format("{} {} {} {}", row.macro, set.mode, set.ring, set.counters),
                    row.outer, facts);
        if (set.counters == "step")
            facts.has_step_counter = true;
        else if (set.counters != "none")
            facts.has_pmu_counters = true;
        for (const CounterCost &cost : row.counter_costs)
            if (set.counters == "step" && (!is_exact(cost.inner) || !is_exact(cost.outer)))
                facts.is_counting_exact = false;
    }
    for (const RingRow &row : results.rings) {
        if (row.name != "off") // a fraction of a nanosecond: its relative spread means nothing
            note_spread(fmt::format("ring {} {}", row.name, row.setting.ring), row.ticks, facts);
        facts.dropped_passes += row.dropped_passes;
        facts.has_loss_equation = facts.has_loss_equation && row.has_loss_equation;
    }
    facts.step_ticks = results.step_ticks;
}

Run run_cases(const Plan &plan, Affinity &affinity, unsigned cpu, command::StatusLine &progress)
{
    Run run;
    const auto steal_before = read_steal_seconds(kRoot, cpu);
    const long preemptions_before = preemptions();
    const Instant begin = now();
    for (unsigned number = 0; number < plan.passes; ++number) {
        const Pass pass = {number,        plan.batches_per_pass,   number < plan.stepping_passes,
                           plan.counters, plan.must_have_counters, &affinity};
        for (const Case &one : kCases) {
            if (command_was_interrupted()) {
                run.was_interrupted = true;
                return run;
            }
            progress.show(fmt::format("pass {} of {}: {}", number + 1, plan.passes, one.name));
            one.run(pass, run.results);
        }
    }
    const Instant end = now();
    const auto steal_after = read_steal_seconds(kRoot, cpu);
    run.facts.seconds = end.seconds - begin.seconds;
    run.facts.hz = (end.ticks - begin.ticks) / run.facts.seconds;
    run.facts.preemptions = preemptions() - preemptions_before;
    if (steal_before && steal_after)
        run.facts.steal_seconds = *steal_after - *steal_before;
    note_spreads(run.results, run.facts);
    return run;
}
} // namespace calibrate
