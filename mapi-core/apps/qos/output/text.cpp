// SPDX-License-Identifier: MIT
// text: figures -> a summary and a table of flows for people.
#include <algorithm>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "qos/output/output.hpp"

namespace qos
{
namespace
{
std::string loss_text(const Measured &measured, double rate)
{
    std::string text =
        fmt::format("{} of {} ({:.4f} %", measured.lost, measured.sent, 100 * measured.loss());
    if (rate < 1)
        text += fmt::format("; 95 %: {:.4f} to {:.4f} %", 100 * measured.loss_interval.low,
                            100 * measured.loss_interval.high);
    return text + ")";
}

std::string path_text(const PathFigures &path, double rate)
{
    const Measured &total = path.total;
    std::string text =
        fmt::format("\n{} -> {}: {} sent, {} received in {}\n", path.from, path.to, total.sent,
                    total.received, command::counted(path.flows.size(), "flow"));
    text += fmt::format("  loss        {}\n", loss_text(total, rate));
    text += fmt::format("  duplicates  {}\n  reordered   {}\n", total.duplicates, total.reordered);
    if (path.only_at_receiver > 0)
        text += fmt::format("  seen only at {}: {}\n", path.to, path.only_at_receiver);
    if (const auto &delays = total.delays) {
        text += fmt::format("  delay       min {:.6f}  mean {:.6f}  p50 {:.6f}  p95 {:.6f}  p99 "
                            "{:.6f}  max {:.6f} ms\n",
                            delays->min_ms, delays->mean_ms, delays->p50_ms, delays->p95_ms,
                            delays->p99_ms, delays->max_ms);
        if (rate < 1)
            text += fmt::format("              mean, 95 %: {:.6f} to {:.6f} ms\n",
                                delays->mean_interval_ms.low, delays->mean_interval_ms.high);
    }
    if (const auto &variation = total.variation)
        text += fmt::format("  variation   mean {:.6f}  min {:.6f}  max {:.6f} ms\n"
                            "  jitter      {:.6f} ms\n",
                            variation->mean_abs_ms, variation->min_ms, variation->max_ms,
                            variation->jitter_ms);
    return text;
}

std::string row_text(const std::string &name, const Measured &measured)
{
    std::string text = fmt::format("  {:8} {:6} {:6} {:6}", measured.sent, measured.lost,
                                   measured.duplicates, measured.reordered);
    text += measured.delays ? fmt::format(" {:12.6f} {:12.6f}", measured.delays->mean_ms,
                                          measured.delays->p95_ms)
                            : fmt::format(" {:>12} {:>12}", "-", "-");
    text += measured.variation ? fmt::format(" {:12.6f}", measured.variation->jitter_ms)
                               : fmt::format(" {:>12}", "-");
    return text + "  " + name + "\n";
}

std::string head_text(const char *name)
{
    return fmt::format("  {:>8} {:>6} {:>6} {:>6} {:>12} {:>12} {:>12}  {}\n", "sent", "lost",
                       "dup", "reord", "mean ms", "p95 ms", "jitter ms", name);
}

std::string flows_text(const PathFigures &path, uint64_t flows)
{
    if (path.flows.empty())
        return "";
    std::string text = head_text("flow");
    const size_t count = printed_flows(path.flows.size(), flows);
    for (size_t i = 0; i < count; ++i)
        text += row_text(flow_text(path.flows[i].flow), path.flows[i].measured);
    if (count < path.flows.size())
        text += fmt::format("  {} more\n", command::counted(path.flows.size() - count, "flow"));
    return text;
}

std::string intervals_text(const PathFigures &path)
{
    if (path.intervals.empty())
        return "";
    std::string text = head_text("begin of interval, s");
    for (const IntervalFigures &interval : path.intervals)
        text += row_text(fmt::format("{:.3f}", double(interval.begin_ns) / 1e9), interval.measured);
    return text;
}

std::string clock_text(const ClockModel &clock)
{
    std::string text;
    for (const ClockPiece &piece : clock.pieces)
        text += fmt::format("second clock - first clock: {:.6f} ms at {:.3f} s, drift {:+.3f} "
                            "ppm\n",
                            piece.offset_ns / 1e6, double(piece.from_ns) / 1e9, piece.drift * 1e6);
    return text;
}
} // namespace

std::string text_of(const Figures &figures, uint64_t flows)
{
    std::string text;
    for (const PointSummary *point : {&figures.from, &figures.to})
        text += fmt::format("point {}: {} of {} in {}{}\n", point->name, point->selected,
                            command::counted(point->packets, "packet"),
                            command::counted(point->runs, "run"),
                            point->is_cut ? " (packets: of the whole run)" : "");
    text += figures.has_common_time()
                ? fmt::format("both from {:.3f} to {:.3f} s", double(figures.common.first_ns) / 1e9,
                              double(figures.common.last_ns) / 1e9)
                : "no common time";
    text += fmt::format("; {:.4g} % of the packets selected; {:.1e} collisions of digests "
                        "expected\n",
                        100 * figures.rate, figures.expected_collisions);
    text += clock_text(figures.clock);
    for (const PathFigures *path : {&figures.forward, &figures.backward}) {
        if (path->total.sent == 0 && path->only_at_receiver == 0)
            continue;
        text += path_text(*path, figures.rate);
        text += flows_text(*path, flows);
        text += intervals_text(*path);
    }
    return text;
}
} // namespace qos
