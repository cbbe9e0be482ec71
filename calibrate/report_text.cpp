// SPDX-License-Identifier: MIT
// report: run + environment -> a table for people.
#include <iterator>

#include <fmt/format.h>

#include "report.hpp"

namespace calibrate
{
namespace
{
class TextReport
{
public:
    explicit TextReport(const Report &report) : report_(report), results_(report.run.results)
    {
        ns_per_tick_ = 1e9 / report.run.facts.hz;
        if (!results_.clock_reads.empty())
            bare_ = results_.clock_reads.front().ticks.total().mean;
    }

    std::string text()
    {
        context();
        clock_reads();
        probes();
        counters();
        rings();
        unavailable();
        warnings();
        return std::move(out_);
    }

private:
    template <typename... Args> void line(fmt::format_string<Args...> form, Args &&...args)
    {
        fmt::format_to(std::back_inserter(out_), form, std::forward<Args>(args)...);
        out_ += '\n';
    }
    double ratio(double ticks) const { return bare_ > 0 ? ticks / bare_ : 0; }

    void context()
    {
        const Environment &env = report_.environment;
        const RunFacts &facts = report_.run.facts;
        const auto known = [](const auto &flag) {
            return !flag ? "unknown" : *flag ? "on" : "off";
        };
        line("cpu        {} ({}), CPU {} of {}{}", env.model, env.flags.arch, env.cpu, env.cpus,
             env.is_isolated ? ", isolated" : "");
        line("machine    {}, virtualised: {}, SMT {}, turbo {}, governor {}", env.kernel,
             env.flags.hypervisor, known(env.is_smt_active), known(env.is_turbo_on),
             env.governor.value_or("unknown"));
        line("clock      {} at {:.6f} GHz, step {:.1f} ticks ({:.1f} ns), {}, kernel's clock "
             "source {}",
             env.flags.clock, facts.hz / 1e9, facts.step_ticks, facts.step_ticks * ns_per_tick_,
             env.flags.is_clock_invariant ? "invariant" : "NOT invariant",
             env.clock_source.value_or("unknown"));
        line("build      {}", env.compiler);
        line("run        {} {:.1f} s, {} passes of {} batches; a fifth of both trimmed at either "
             "end; "
             "load before {:.2f}",
             env.date, facts.seconds, report_.plan.passes, report_.plan.batches_per_pass,
             env.load_1min);
    }

    void clock_reads()
    {
        line("\n{:<22} {:>9} {:>8} {:>9} {:>8}  {}", "clock read", "ticks", "+-95%", "ns",
             "x rdtsc", "batches");
        for (const ClockReadRow &row : results_.clock_reads) {
            const Estimate cost = row.ticks.total();
            line("{:<22} {:>9.2f} {:>8.2f} {:>9.2f} {:>8.2f}  {} ({} trimmed)", row.name, cost.mean,
                 cost.ci95, cost.mean * ns_per_tick_, ratio(cost.mean), cost.batches, cost.trimmed);
        }
    }

    void probes()
    {
        line("\n{:<11} {:<8} {:<7} {:<10} {:>9} {:>7} {:>9} {:>7} {:>9} {:>8}  {}", "probe",
             "clock", "ring", "counters", "inner", "+-95%", "outer", "+-95%", "outer ns", "x rdtsc",
             "batches");
        for (const ProbeRow &row : results_.probes) {
            const Estimate inner = row.inner.total(), outer = row.outer.total();
            const bool is_pair = inner.batches > 0;
            line("{:<11} {:<8} {:<7} {:<10} {:>9} {:>7} {:>9.2f} {:>7.2f} {:>9.2f} {:>8.2f}  {} "
                 "({} trimmed)",
                 row.macro, row.setting.mode, row.setting.ring, row.setting.counters,
                 is_pair ? fmt::format("{:.2f}", inner.mean) : "-",
                 is_pair ? fmt::format("{:.2f}", inner.ci95) : "-", outer.mean, outer.ci95,
                 outer.mean * ns_per_tick_, ratio(is_pair ? outer.mean / 2 : outer.mean),
                 outer.batches, outer.trimmed);
        }
        line("inner: ticks an empty slice reads; outer: ticks the probe, or the pair, adds to what "
             "is around it; "
             "x rdtsc: of one record, a pair writes two");
    }

    void counters()
    {
        bool has_title = false;
        for (const ProbeRow &row : results_.probes)
            for (const CounterCost &cost : row.counter_costs) {
                if (!has_title)
                    line("\n{:<11} {:<8} {:<7} {:<10} {:<20} {:>9} {:>9} {:>7}", "probe", "clock",
                         "ring", "counters", "counter", "inner", "outer", "+-95%");
                has_title = true;
                const Estimate inner = cost.inner.total(), outer = cost.outer.total();
                line("{:<11} {:<8} {:<7} {:<10} {:<20} {:>9} {:>9.1f} {:>7.1f}", row.macro,
                     row.setting.mode, row.setting.ring, row.setting.counters, cost.name,
                     inner.batches ? fmt::format("{:.1f}", inner.mean) : "-", outer.mean,
                     outer.ci95);
            }
    }

    static const char *meaning(const std::string &name)
    {
        return name == "off"    ? "EXIT, no session open"
               : name == "room" ? "EXIT, ring of 4 MiB with room"
               : name == "full" ? "EXIT, ring full: the loss is counted"
                                : "EXIT, oldest records give way, ring of 64 KiB";
    }

    void rings()
    {
        line("\n{:<46} {:<7} {:>8} {:>7} {:>8} {:>8} {:>12} {:>12}",
             "one record of 16 bytes, fast clock", "ring", "ticks", "+-95%", "ns", "x rdtsc",
             "issued", "lost");
        for (const RingRow &row : results_.rings) {
            const Estimate cost = row.ticks.total();
            if (cost.batches == 0)
                continue;
            line("{:<46} {:<7} {:>8.2f} {:>7.2f} {:>8.2f} {:>8.2f} {:>12} {:>12}",
                 meaning(row.name), row.setting.ring, cost.mean, cost.ci95,
                 cost.mean * ns_per_tick_, ratio(cost.mean), row.issued, row.lost);
        }
    }

    void unavailable()
    {
        if (!results_.unavailable.empty())
            out_ += '\n';
        for (const Unavailable &lack : results_.unavailable)
            line("not here: {}: {}", lack.what, lack.reason);
    }

    void warnings()
    {
        if (!report_.warnings.empty())
            out_ += '\n';
        for (const Warning &warning : report_.warnings)
            line("{}: {}", warning.spoils_result ? "NOT TO BE TRUSTED" : "warning", warning.text);
    }

    const Report &report_;
    const Results &results_;
    double ns_per_tick_ = 0;
    double bare_ = 0;
    std::string out_;
};
} // namespace

std::string as_text(const Report &report)
{
    return TextReport(report).text();
}
} // namespace calibrate
