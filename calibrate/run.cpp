// SPDX-License-Identifier: MIT
// run: plan -> passes over all cases, with the steal time and preemptions meanwhile.
#include "run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "common/command/signals.h"

namespace calibrate
{
namespace
{
constexpr uint32_t kQuickBatches = 500, kThoroughBatches = 8000;
constexpr unsigned kQuickPasses = 10, kThoroughPasses = 40, kQuickSteppingPasses = 5;
constexpr uint32_t kMostBatchesPerPass = 1000; // as in libnsprobe's calibration
constexpr const char *kRoot = "/";

// The two clocks read together, the second between two readings of the first.
struct Instant {
    double ticks;
    double seconds;
};

Instant now()
{
    timespec raw;
    const uint64_t before = read_ticks();
    clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    const uint64_t after = read_ticks();
    return {double(before) + double(after - before) / 2,
            double(raw.tv_sec) + double(raw.tv_nsec) * 1e-9};
}

long preemptions()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

// `whole`: the value that the spread is relative to.
void note_spread(const std::string &name, const Series &series, double whole, RunFacts &facts)
{
    if (series.passes().size() < 2 || whole == 0)
        return;
    const Estimate total = series.total();
    const double spread = total.spread * std::fabs(total.mean / whole);
    facts.wide_figures += spread > kWideSpread;
    if (spread > facts.worst_spread) {
        facts.worst_spread = spread;
        facts.worst_figure = name;
    }
}

std::string setting_name(const ProbeRow &row)
{
    const Setting &set = row.setting;
    return fmt::format("{} {} {} {}", row.macro, set.mode, set.ring, set.counters);
}

// Under single-stepping every pass counts the same instructions.
bool is_exact(const Series &series)
{
    const auto &passes = series.passes();
    return std::all_of(passes.begin(), passes.end(), [&](const Estimate &pass) {
        return std::fabs(pass.mean - passes.front().mean) < 1e-9;
    });
}

void note_probe(const ProbeRow &row, RunFacts &facts)
{
    const std::string &counters = row.setting.counters;
    const double alone = row.outer_alone.total().mean;
    note_spread(setting_name(row), row.outer, alone != 0 ? alone : row.outer.total().mean, facts);
    note_spread(setting_name(row) + " alone", row.outer_alone, alone, facts);
    if (counters == "step")
        facts.has_step_counter = true;
    else if (counters != "none")
        facts.has_pmu_counters = true;
    for (const CounterCost &cost : row.counter_costs)
        if (counters == "step" && (!is_exact(cost.inner) || !is_exact(cost.outer)))
            facts.is_counting_exact = false;
}
} // namespace

Plan make_plan(uint32_t batches, bool is_thorough, const std::string &counters)
{
    Plan plan;
    if (batches == 0)
        batches = is_thorough ? kThoroughBatches : kQuickBatches;
    const uint32_t needed = (batches + kMostBatchesPerPass - 1) / kMostBatchesPerPass;
    plan.passes = std::max(is_thorough ? kThoroughPasses : kQuickPasses, needed);
    plan.stepping_passes = is_thorough ? plan.passes : kQuickSteppingPasses;
    plan.batches_per_pass = std::max<uint32_t>((batches + plan.passes - 1) / plan.passes, 5);
    plan.must_have_counters = !counters.empty();
    plan.counters = counters.empty() ? "instructions" : counters;
    return plan;
}

void note_spreads(const Results &results, RunFacts &facts)
{
    for (const ClockReadRow &row : results.clock_reads)
        note_spread(row.name, row.ticks, row.ticks.total().mean, facts);
    for (const InstructionRow &row : results.instructions)
        note_spread(row.name, row.ticks, row.ticks.total().mean, facts);
    for (const InstructionRow &row : results.kernel_costs)
        if (!row.name.starts_with("idle ")) // a nop: its relative spread is meaningless
            note_spread(kInKernel + row.name, row.ticks, row.ticks.total().mean, facts);
    for (const ProbeRow &row : results.probes)
        note_probe(row, facts);
    for (const ProbeRow &row : results.halves)
        note_probe(row, facts);
    for (const RingRow &row : results.rings) {
        if (row.name != "off") // a fraction of a nanosecond: its relative spread is meaningless
            note_spread(fmt::format("ring {} {}", row.name, row.setting.ring), row.ticks,
                        row.ticks.total().mean, facts);
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
        const Pass pass = {number,         plan.batches_per_pass,   number < plan.stepping_passes,
                           plan.counters,  plan.must_have_counters, &affinity,
                           plan.does_paper};
        for (const Case &one : kCases) {
            if (one.is_for_paper && !plan.does_paper)
                continue;
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
