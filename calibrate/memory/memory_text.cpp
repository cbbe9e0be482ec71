// SPDX-License-Identifier: MIT
// memory_report: the tables.
#include <fmt/format.h>

#include "common/command/numbers.hpp"
#include "memory/chase.hpp"
#include "memory/memory_report.hpp"
#include "report/report_lines.hpp"

namespace calibrate
{
namespace
{
using command::short_size;

class MemoryText : Lines
{
public:
    explicit MemoryText(const MemoryReport &report)
        : report_(report), ns_per_tick_(1e9 / report.run.facts.hz)
    {
    }

    std::string text()
    {
        context();
        levels();
        sizes();
        pages();
        if (!report_.warnings.empty())
            line("");
        for (const Warning &warning : report_.warnings)
            line("{}: {}", warning.spoils_result ? "NOT TO BE TRUSTED" : "warning", warning.text);
        return take();
    }

private:
    void context()
    {
        const Environment &env = report_.environment;
        const LatencyRun &run = report_.run;
        line("cpu        {} ({}), CPU {} of {}", env.machine.cpu_model, env.machine.arch, env.cpu,
             env.cpus);
        line("machine    {}, virtualised: {}", env.kernel, env.machine.hypervisor);
        line("clock      {} at {:.6f} GHz", env.machine.clock, run.facts.hz / 1e9);
        for (const Cache &cache : report_.caches)
            line("cache      L{} {}{}, by {}", cache.level, short_size(cache.bytes),
                 cache.shared_by ? " of CPUs " + *cache.shared_by : "", cache.source);
        if (run.huge.points.empty())
            line("pages      {} only: {}", page_, run.why_not_huge);
        else
            line("pages      {}, and 2M for {:.0f} % of the second region", page_,
                 run.huge_share * 100);
        line("run        {} {:.1f} s, {} passes of {} batches of at most {} loads", env.date,
             run.facts.seconds, report_.plan.passes, report_.plan.batches_per_pass,
             report_.plan.most_loads_per_batch);
    }

    // The median with its interval, or a dash.
    std::string ns(const LatencyPoint *point) const
    {
        if (!point || point->alone.empty())
            return fmt::format("{:>8} {:>17}", "-", "");
        const Median median = point->ticks();
        return fmt::format(
            "{:>8.2f} {:>17}", median.value * ns_per_tick_,
            fmt::format("{:.2f} to {:.2f}", median.low * ns_per_tick_, median.high * ns_per_tick_));
    }

    std::string overlapped_ns(const LatencyPoint *point) const
    {
        if (!point || point->overlapped.empty())
            return fmt::format("{:>8}", "-");
        return fmt::format("{:>8.2f}", point->overlapped_ticks().value * ns_per_tick_);
    }

    void head(const char *first, int width)
    {
        line("\n{:<{}} {:>8} {:>17} {:>8} {:>8} {:>17} {:>8}", first, width, page_ + ", ns", "95 %",
             "of 8", "2M, ns", "95 %", "of 8");
    }

    void levels()
    {
        if (report_.levels.empty())
            return;
        head("level      size    used   step", 30);
        for (const Level &level : report_.levels)
            line("{:<8} {:>6} {:>7} {:>6} {} {} {} {}", level.name,
                 level.cache ? short_size(level.cache->bytes) : "-",
                 short_size(level.measured_bytes),
                 level.step_bytes ? short_size(*level.step_bytes) : "-", ns(level.small),
                 overlapped_ns(level.small), ns(level.huge), overlapped_ns(level.huge));
        line("used: memory in use when the level was measured; step: the size from which loads are "
             "slower; of 8: a load, with {} independent ones at a time",
             kManyChains);
    }

    void sizes()
    {
        head("size", 9);
        const auto &huge = report_.run.huge.points;
        for (size_t i = 0; i < report_.run.small.points.size(); ++i) {
            const LatencyPoint &point = report_.run.small.points[i];
            const LatencyPoint *const other = i < huge.size() ? &huge[i] : nullptr;
            line("{:<9} {} {} {} {}", short_size(point.bytes), ns(&point), overlapped_ns(&point),
                 ns(other), overlapped_ns(other));
        }
    }

    void pages()
    {
        line("\n{:<9} {:>8} {:>17} {:>12}", page_ + " pages", "ns", "95 %", "for the page");
        for (const LatencyPoint &point : report_.run.by_page.points) {
            const auto cost = page_cost_ticks(report_.run, point);
            line("{:<9} {} {:>12}", point.bytes / kLineBytes, ns(&point),
                 cost ? fmt::format("{:.2f}", *cost * ns_per_tick_) : "-");
        }
        line("one line in each page; for the page: more than the same number of lines side by "
             "side{}: the cost of finding the page (TLB)",
             report_.run.huge.points.empty() ? "" : " on 2M pages");
    }

    const MemoryReport &report_;
    double ns_per_tick_;
    std::string page_ = short_size(report_.run.page_bytes); // a small one
};
} // namespace

std::string memory_text(const MemoryReport &report)
{
    return MemoryText(report).text();
}
} // namespace calibrate
