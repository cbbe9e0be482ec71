// SPDX-License-Identifier: MIT
// warnings: properties of the machine and the run -> warnings with remedies.
#include "warnings.hpp"

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace calibrate
{
namespace
{
constexpr double kBusyLoad = 0.5;
constexpr double kNotableShare = 0.05, kNotableRange = 0.02;

using Warnings = std::vector<Warning>;

void about_clock(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (!environment.machine.clock_is_invariant)
        out.push_back(
            {fmt::format("the {} is not invariant: it may stop or change its rate, so times are "
                         "unreliable; use a machine whose CPU has nonstop_tsc",
                         environment.machine.clock),
             true});
    if (environment.clock_source && *environment.clock_source != environment.machine.clock_source &&
        *environment.clock_source != "kvm-clock")
        out.push_back(
            {fmt::format("the kernel's clock source is {}, not the {}, which it may have found "
                         "unstable (dmesg | grep -i tsc)",
                         *environment.clock_source, environment.machine.clock)});
    if (facts.step_ticks > kCoarseStepTicks)
        out.push_back({fmt::format(
            "the clock moves in steps of {:.1f} ticks ({:.1f} ns), which limits the resolution of "
            "single slices, but not of means over many",
            facts.step_ticks, facts.hz > 0 ? facts.step_ticks / facts.hz * 1e9 : 0.0)});
}

void about_machine(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (is_virtual(environment))
        out.push_back({fmt::format(
            "virtual machine ({}): other guests affect the figures{}; measure on bare metal if "
            "absolute figures matter",
            environment.machine.hypervisor,
            facts.steal_seconds
                ? fmt::format(" (steal time during the run: {:.0f} ms)", *facts.steal_seconds * 1e3)
                : std::string())});
    if (environment.governor && *environment.governor != "performance")
        out.push_back(
            {fmt::format("the frequency governor is {}: the core frequency changes relative to the "
                         "clock; run cpupower frequency-set -g performance",
                         *environment.governor)});
    if (environment.is_turbo_on.value_or(false))
        out.push_back(
            {"turbo is on: the core frequency depends on temperature and other cores; disable it "
             "in "
             "/sys/devices/system/cpu (cpufreq/boost or intel_pstate/no_turbo) to compare runs"});
    if (environment.is_smt_active.value_or(false) && !environment.is_isolated)
        out.push_back({fmt::format(
            "SMT is on and CPU {} is not isolated: work on its sibling affects the figures; "
            "keep the sibling idle or boot with isolcpus=",
            environment.cpu)});
    if (!environment.sanitizer.empty())
        out.push_back({fmt::format("built with the {} sanitizer: figures are invalid; build "
                                   "without NETSLICE_SANITIZE",
                                   environment.sanitizer),
                       true});
}

void about_load(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (environment.load_1min > kBusyLoad && !environment.is_isolated)
        out.push_back({fmt::format(
            "the load was {:.2f} before the run; stop other programs or choose an isolated CPU "
            "with --cpu",
            environment.load_1min)});
    if (facts.preemptions > 0)
        out.push_back({fmt::format(
            "CPU {}: preempted {} in {:.1f} s; affected batches have no part in the figures if "
            "there are few of them",
            environment.cpu, command::counted(facts.preemptions, "time"), facts.seconds)});
    if (facts.wide_figures > 0)
        out.push_back({fmt::format(
            "{} by more than {:.0f} % from pass to pass (worst: {}, {:.0f} %); try again on a "
            "quieter machine or with --thorough",
            command::counted(facts.wide_figures, "figure differs", "figures differ"),
            kWideSpread * 100, facts.worst_figure, facts.worst_spread * 100)});
}

void about_core(const Environment &environment, const RunFacts &facts, Warnings &out)
{
    if (facts.shared_share > kNotableShare)
        out.push_back({fmt::format(
            "CPU {}: another thread used its core in {:.0f} % of the looks (threads of the core: "
            "{}; "
            "in a virtual machine also other guests'); `nscalibrate --watch` shows when",
            environment.cpu, facts.shared_share * 100, environment.siblings.value_or("unknown"))});
    if (facts.frequency_range > kNotableRange)
        out.push_back({fmt::format(
            "CPU {}: the core's frequency changed by {:.1f} % during the run, so costs in ticks "
            "changed as well; fix the frequency or measure longer (--thorough)",
            environment.cpu, facts.frequency_range * 100)});
    if (facts.repeated_passes > 0 || facts.disturbed_passes > 0)
        out.push_back(
            {fmt::format("{} repeated and {} that were used are disturbed ({})",
                         command::counted(facts.repeated_passes, "pass was", "passes were"),
                         facts.disturbed_passes, facts.disturbances)});
}

void about_counters(const RunFacts &facts, Warnings &out)
{
    if (!facts.has_pmu_counters)
        out.push_back({facts.has_step_counter
                           ? "no hardware counters: instructions are counted by "
                             "single-stepping (source=step, "
                             "exact, about 10 us per instruction); cycles are unavailable"
                           : "no counters available: sessions can measure time only"});
    if (!facts.is_counting_exact)
        out.push_back({"stepped instruction counts differ between passes but should be exact; "
                       "please report this",
                       true});
}

void about_rings(const RunFacts &facts, Warnings &out)
{
    if (!facts.has_loss_equation)
        out.push_back({"a ring case ended with records neither drained nor counted as lost; please "
                       "report this",
                       true});
    if (facts.dropped_passes > 0)
        out.push_back({fmt::format(
            "{} passes of a ring with room were left out because the drain thread did not get a "
            "CPU in time and records were lost",
            facts.dropped_passes)});
}
} // namespace

Warnings surroundings_warnings(const Environment &environment, const RunFacts &facts)
{
    Warnings out;
    about_clock(environment, facts, out);
    about_machine(environment, facts, out);
    about_load(environment, facts, out);
    about_core(environment, facts, out);
    return out;
}

Warnings warnings_for(const Environment &environment, const RunFacts &facts)
{
    Warnings out = surroundings_warnings(environment, facts);
    about_counters(facts, out);
    about_rings(facts, out);
    return out;
}
} // namespace calibrate
