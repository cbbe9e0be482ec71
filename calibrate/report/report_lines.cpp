// SPDX-License-Identifier: MIT
// report: environment and run -> the lines above every table; warnings -> the lines below.
#include "report_lines.hpp"

namespace calibrate
{
std::string context_text(const Report &report)
{
    Lines lines;
    const Environment &env = report.environment;
    const RunFacts &facts = report.run.facts;
    const auto known = [](const auto &flag) { return !flag ? "unknown" : *flag ? "on" : "off"; };
    lines.line("cpu        {} ({}), CPU {} of {}{}", env.machine.cpu_model, env.machine.arch,
               env.cpu, env.cpus, env.is_isolated ? ", isolated" : "");
    lines.line("machine    {}, virtualised: {}, SMT {}, turbo {}, governor {}", env.kernel,
               env.machine.hypervisor, known(env.is_smt_active), known(env.is_turbo_on),
               env.governor.value_or("unknown"));
    lines.line(
        "clock      {} at {:.6f} GHz, step {:.1f} ticks ({:.1f} ns), {}, kernel's clock source {}",
        env.machine.clock, facts.hz / 1e9, facts.step_ticks, facts.step_ticks * 1e9 / facts.hz,
        env.machine.clock_is_invariant ? "invariant" : "NOT invariant",
        env.clock_source.value_or("unknown"));
    lines.line(
        "core       threads {}, {}shared in {:.0f} % of the looks, frequency range {:.1f} %, gaps "
        "{:.2f} % of the time, stolen {}",
        env.siblings.value_or("unknown"),
        facts.core_hz ? fmt::format("{:.2f} GHz, ", *facts.core_hz / 1e9) : "",
        facts.shared_share * 100, facts.frequency_range * 100, facts.gap_share * 100,
        facts.steal_seconds ? fmt::format("{:.0f} ms", *facts.steal_seconds * 1e3) : "unknown");
    lines.line("build      {}", env.compiler);
    lines.line(
        "run        {} {:.1f} s, {} passes of {} batches, {} repeated; a fifth of both trimmed at "
        "either end; load before {:.2f}",
        env.date, facts.seconds, report.plan.passes, report.plan.batches_per_pass,
        facts.repeated_passes, env.load_1min);
    return lines.take();
}

std::string warnings_text(const Report &report)
{
    Lines lines;
    if (!report.warnings.empty())
        lines.line("");
    for (const Warning &warning : report.warnings)
        lines.line("{}: {}", warning.spoils_result ? "NOT TO BE TRUSTED" : "warning", warning.text);
    return lines.take();
}
} // namespace calibrate
