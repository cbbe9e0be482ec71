// SPDX-License-Identifier: MIT
// warnings: what the machine was and did during the run -> what a person should know and can do.
#include "warnings.hpp"


#include <fmt/format.h>

namespace calibrate
{
namespace
{
constexpr double kBusyLoad = 0.5;

using Warnings = std::vector<Warning>;

void about_clock(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (!environment.machine.clock_is_invariant)
        out.push_back(
            {fmt::format("the {} is not invariant: its rate may change or stop, so times are "
                         "not to be trusted; use a machine whose CPU has nonstop_tsc",
                         environment.machine.clock),
             true});
    if (environment.clock_source && *environment.clock_source != environment.machine.clock_source &&
        *environment.clock_source != "kvm-clock")
        out.push_back(
            {fmt::format("the kernel keeps time by {}, not by the {}: it may have found the "
                         "latter unstable (dmesg | grep -i tsc)",
                         *environment.clock_source, environment.machine.clock)});
    if (facts.step_ticks > kCoarseStepTicks)
        out.push_back({fmt::format(
            "the clock moves in steps of {:.1f} ticks ({:.1f} ns): single slices are no "
            "finer than that, means over many are",
            facts.step_ticks, facts.hz > 0 ? facts.step_ticks / facts.hz * 1e9 : 0.0)});
}

void about_machine(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (is_virtual(environment))
        out.push_back({fmt::format(
            "a virtual machine ({}): its neighbours are in the figures{}; where absolute figures "
            "matter measure on the metal",
            environment.machine.hypervisor,
            facts.steal_seconds
                ? fmt::format(" (steal time during the run: {:.0f} ms)", *facts.steal_seconds * 1e3)
                : std::string())});
    if (environment.governor && *environment.governor != "performance")
        out.push_back(
            {fmt::format("the frequency governor is {}: the core's rate moves under the clock; "
                         "cpupower frequency-set -g performance",
                         *environment.governor)});
    if (environment.is_turbo_on.value_or(false))
        out.push_back(
            {"turbo is on: the core's rate depends on heat and neighbours; switch it off in "
             "/sys/devices/system/cpu (cpufreq/boost or intel_pstate/no_turbo) to compare runs"});
    if (environment.is_smt_active.value_or(false) && !environment.is_isolated)
        out.push_back({fmt::format(
            "SMT is on and CPU {} is not isolated: work on its sibling is in the figures; "
            "keep the sibling idle or boot with isolcpus=",
            environment.cpu)});
    if (!environment.sanitizer.empty())
        out.push_back(
            {fmt::format(
                 "built with the {} sanitizer: no figure holds; build without NETSLICE_SANITIZE",
                 environment.sanitizer),
             true});
}

void about_load(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (environment.load_1min > kBusyLoad && !environment.is_isolated)
        out.push_back({fmt::format(
            "the load was {:.2f} before the run: stop other programs, or give --cpu an "
            "isolated one",
            environment.load_1min)});
    if (facts.preemptions > 0)
        out.push_back({fmt::format(
            "other programs took CPU {} {} times in {:.1f} s; the batches they fell into "
            "are trimmed as far as they are few",
            environment.cpu, facts.preemptions, facts.seconds)});
    if (facts.wide_figures > 0)
        out.push_back({fmt::format(
            "{} figure{} differ by more than {:.0f} % from pass to pass (worst: {}, {:.0f} %); "
            "try again on a quieter machine, or --thorough",
            facts.wide_figures, facts.wide_figures == 1 ? "" : "s", kWideSpread * 100,
            facts.worst_figure, facts.worst_spread * 100)});
}

void about_counters(const RunFacts &facts, Warnings &out)
{
    if (!facts.has_pmu_counters)
        out.push_back({facts.has_step_counter
                           ? "no hardware counters here: instructions are counted by "
                             "single-stepping (source=step, "
                             "exact, about 10 us an instruction); cycles cannot be had"
                           : "no counters here at all: sessions can measure time only"});
    if (!facts.is_counting_exact)
        out.push_back({"stepped instruction counts differed between passes: they should be exact; "
                       "report this",
                       true});
}

void about_rings(const RunFacts &facts, Warnings &out)
{
    if (!facts.has_loss_equation)
        out.push_back(
            {"a ring case ended with records neither drained nor counted as lost; report this",
             true});
    if (facts.dropped_passes > 0)
        out.push_back({fmt::format(
            "{} passes of a ring with room were left out: the drain thread did not get a "
            "CPU in time, so records were lost in them",
            facts.dropped_passes)});
}
} // namespace

Warnings warnings_for(const Environment &environment, const RunFacts &facts)
{
    Warnings out;
    about_clock(environment, facts, out);
    about_machine(environment, facts, out);
    about_load(environment, facts, out);
    about_counters(facts, out);
    about_rings(facts, out);
    return out;
}
} // namespace calibrate
