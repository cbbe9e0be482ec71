// SPDX-License-Identifier: MIT
// run: plan -> passes over all cases, with the steal time and preemptions meanwhile.
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "common/command/signals.h"
#include "surroundings/core_watch.hpp"

namespace calibrate
{
namespace
{
constexpr uint32_t kQuickBatches = 500, kThoroughBatches = 8000;
constexpr unsigned kQuickPasses = 10, kThoroughPasses = 40, kQuickSteppingPasses = 5;
constexpr uint32_t kMostBatchesPerPass = 1000; // as in libnsprobe's calibration
constexpr const char *kRoot = "/";
constexpr double kWatchSeconds = 2e-3; // before each case

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
    plan.most_repeated = plan.passes / 2;
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

namespace
{
// One pass over all cases; false: interrupted.
bool run_pass(const Pass &pass, const std::string &title, CoreWatch &core,
              command::StatusLine &progress, Results &results)
{
    for (const Case &one : kCases) {
        if (one.is_for_paper && !pass.does_paper)
            continue;
        if (command_was_interrupted())
            return false;
        progress.show(fmt::format("{}: {}", title, one.name));
        core.watch(kWatchSeconds);
        one.run(pass, results);
    }
    return true;
}

// What happened in each pass -> facts about the run.
class Surrounded
{
public:
    void add(const Surroundings &pass)
    {
        looks_ += pass.core.looks;
        shared_ += pass.core.shared;
        widest_ = std::max(widest_, pass.core.frequency_range);
        gap_seconds_ += pass.gap_seconds;
        watched_seconds_ += pass.watched_seconds;
        if (const auto hz = pass.core_hz())
            core_hz_.push_back(*hz);
    }
    void add_reasons(const std::vector<std::string> &reasons)
    {
        reasons_.insert(reasons.begin(), reasons.end());
    }
    void tell(RunFacts &facts) const
    {
        facts.shared_share = looks_ ? double(shared_) / double(looks_) : 0;
        facts.gap_share = watched_seconds_ > 0 ? gap_seconds_ / watched_seconds_ : 0;
        facts.frequency_range = widest_;
        facts.disturbances = fmt::format("{}", fmt::join(reasons_, ", "));
        if (core_hz_.empty())
            return;
        const auto [least, most] = std::minmax_element(core_hz_.begin(), core_hz_.end());
        facts.core_hz = trimmed_mean(core_hz_).mean;
        facts.frequency_range = std::max(widest_, (*most - *least) / *facts.core_hz);
    }

private:
    uint64_t looks_ = 0, shared_ = 0;
    double widest_ = 0, gap_seconds_ = 0, watched_seconds_ = 0;
    std::vector<double> core_hz_; // by pass
    std::set<std::string> reasons_;
};
} // namespace

Run run_cases(const Plan &plan, Affinity &affinity, unsigned cpu, command::StatusLine &progress)
{
    Run run;
    const auto steal_before = read_steal_seconds(kRoot, cpu);
    const uint64_t preemptions_before = preemptions();
    const Instant begin = now();
    CoreWatch core(cpu);
    Surrounded surrounded;
    for (unsigned number = 0; number < plan.passes;) {
        const Pass pass = {number,         plan.batches_per_pass,   number < plan.stepping_passes,
                           plan.counters,  plan.must_have_counters, &affinity,
                           plan.does_paper};
        const Results before = run.results;
        if (!run_pass(pass, fmt::format("pass {} of {}", number + 1, plan.passes), core, progress,
                      run.results)) {
            run.was_interrupted = true;
            return run;
        }
        const Surroundings around = core.take();
        const std::vector<std::string> reasons = disturbances_of(around);
        surrounded.add(around);
        surrounded.add_reasons(reasons);
        if (!reasons.empty() && run.facts.repeated_passes < plan.most_repeated) {
            ++run.facts.repeated_passes;
            run.results = before;
            continue;
        }
        run.facts.disturbed_passes += !reasons.empty();
        ++number;
    }
    const Instant end = now();
    const auto steal_after = read_steal_seconds(kRoot, cpu);
    run.facts.seconds = end.seconds - begin.seconds;
    run.facts.hz = (end.ticks - begin.ticks) / run.facts.seconds;
    run.facts.preemptions = preemptions() - preemptions_before;
    if (steal_before && steal_after)
        run.facts.steal_seconds = *steal_after - *steal_before;
    surrounded.tell(run.facts);
    note_spreads(run.results, run.facts);
    return run;
}
} // namespace calibrate
