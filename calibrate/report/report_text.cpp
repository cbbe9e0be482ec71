// SPDX-License-Identifier: MIT
// report: run + environment -> tables as text.
#include <cmath>

#include <fmt/format.h>

#include "report.hpp"
#include "report_lines.hpp"

namespace calibrate
{
namespace
{
class TextReport : Lines
{
public:
    explicit TextReport(const Report &report) : report_(report), results_(report.run.results)
    {
        ns_per_tick_ = 1e9 / report.run.facts.hz;
        if (!results_.clock_reads.empty()) {
            bare_ = results_.clock_reads.front().ticks.total().mean;
            bare_name_ = results_.clock_reads.front().name;
        }
    }

    std::string text()
    {
        add(context_text(report_));
        clock_reads();
        probes();
        counters();
        rings();
        unavailable();
        add(warnings_text(report_));
        return take();
    }

private:
    double ratio(double ticks) const { return bare_ > 0 ? ticks / bare_ : 0; }

    void clock_reads()
    {
        line("\n{:<22} {:>9} {:>8} {:>9} {:>8}  {}", "clock read", "ticks", "+-95%", "ns",
             "x " + bare_name_, "batches");
        for (const ClockReadRow &row : results_.clock_reads) {
            const Estimate cost = row.ticks.total();
            line("{:<22} {:>9.2f} {:>8.2f} {:>9.2f} {:>8.2f}  {} ({} trimmed)", row.name, cost.mean,
                 cost.ci95, cost.mean * ns_per_tick_, ratio(cost.mean), cost.batches, cost.trimmed);
        }
    }

    void probes()
    {
        line("\n{:<11} {:<8} {:<7} {:<10} {:>9} {:>7} {:>9} {:>7} {:>9} {:>9} {:>8}  {}", "probe",
             "clock", "ring", "counters", "inner", "+-95%", "outer", "+-95%", "outer ns",
             "alone ns", "x " + bare_name_, "batches");
        for (const ProbeRow &row : results_.probes) {
            const Estimate inner = row.inner.total(), outer = row.outer.total(),
                           alone = row.outer_alone.total();
            const bool is_pair = inner.batches > 0;
            line("{:<11} {:<8} {:<7} {:<10} {:>9} {:>7} {:>9.2f} {:>7.2f} {:>9.2f} {:>9.2f} "
                 "{:>8.2f}  {} "
                 "({} trimmed)",
                 row.macro, row.setting.mode, row.setting.ring, row.setting.counters,
                 is_pair ? fmt::format("{:.2f}", inner.mean) : "-",
                 is_pair ? fmt::format("{:.2f}", inner.ci95) : "-", outer.mean, outer.ci95,
                 outer.mean * ns_per_tick_, alone.mean * ns_per_tick_,
                 ratio(is_pair ? alone.mean / 2 : alone.mean), outer.batches, outer.trimmed);
        }
        line("inner: ticks that a slice reads in addition to its work; negative if its two clock "
             "reads overlap with the work, and net then exceeds raw");
        line("outer: ticks that the probe, or the pair, adds to the work around it; alone: outer "
             "without work to overlap with; x {}: for one record, alone (a pair writes two)",
             bare_name_);
        for (const ProbeRow &row : results_.probes)
            overtaking(row);
    }

    void overtaking(const ProbeRow &row)
    {
        const Estimate inner = row.inner.total(), most = row.inner_overtaking.total();
        const double overtaken = inner.mean - most.mean,
                     hidden = std::fabs(row.inner_alone.total().mean - inner.mean);
        if (most.batches > 0 && overtaken - most.ci95 - inner.ci95 > hidden &&
            row.setting.counters == "none")
            line("clock {}, ring {}: STOP may read the clock up to {:.0f} ticks ({:.0f} ns) before "
                 "arithmetic in front of it is done, which the intervals of slices allow for, and "
                 "before loads from memory are done, which they do not; clock ordered prevents it",
                 row.setting.mode, row.setting.ring, overtaken, overtaken * ns_per_tick_);
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
               : name == "full" ? "EXIT, ring full, loss counted"
                                : "EXIT, overwriting oldest, ring of 64 KiB";
    }

    void rings()
    {
        line("\n{:<46} {:<7} {:>8} {:>7} {:>8} {:>8} {:>12} {:>12}",
             "one record of 16 bytes, fast clock", "ring", "ticks", "+-95%", "ns",
             "x " + bare_name_, "issued", "lost");
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
            add("\n");
        for (const Unavailable &lack : results_.unavailable)
            line("unavailable: {}: {}", lack.what, lack.reason);
    }

    const Report &report_;
    const Results &results_;
    double ns_per_tick_ = 0;
    double bare_ = 0; // ticks of the plain clock read, the first of the list
    std::string bare_name_ = "clock read";
};
} // namespace

std::string as_text(const Report &report)
{
    return TextReport(report).text();
}
} // namespace calibrate
