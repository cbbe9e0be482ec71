// SPDX-License-Identifier: MIT
// export: a report -> tables for people.
#include "export/exporter.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "export/escape.hpp"
#include "export/field_tables.hpp"
#include "export/thinning.hpp"

namespace nsdump
{
namespace
{
using command::counted;

class Page
{
public:
    template <class... Args> void line(fmt::format_string<Args...> format, Args &&...args)
    {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_ += '\n';
    }
    void add(const std::string &lines) { text_ += lines; }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

std::string info_or(const StatsReport &report, const char *key, const char *otherwise)
{
    const auto found = report.info.find(key);
    return found == report.info.end() || found->second.empty() ? otherwise
                                                               : printable(found->second);
}

std::string clock_text(const Clock &clock)
{
    std::string text =
        fmt::format("{}, {} reads", clock.source.empty() ? "unknown" : printable(clock.source),
                    clock.mode.empty() ? "unknown" : printable(clock.mode));
    if (clock.hz > 0)
        text += fmt::format(", {:.6f} GHz", clock.hz / 1e9);
    if (clock.step_ticks > 0)
        text += fmt::format(", step {:g} ticks", clock.step_ticks);
    if (clock.read_ticks > 0)
        text += fmt::format(", one read {:.1f} ticks", clock.read_ticks);
    return text;
}

std::string lost_text(const StatsReport &report)
{
    const Losses &losses = report.losses;
    std::string text = losses.equation();
    std::string causes;
    for (size_t cause = 0; cause < kLostCauses; ++cause)
        if (losses.lost[cause] > 0)
            causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", lost_name(cause),
                                  losses.lost[cause]);
    if (losses.lost_other > 0)
        causes += fmt::format("{}other {}", causes.empty() ? "" : ", ", losses.lost_other);
    if (losses.lost_without_cause > 0)
        causes = "causes unknown, since the footer is missing";
    if (!causes.empty())
        text += " (" + causes + ")";
    if (losses.equation_holds == false)
        text += ": DOES NOT HOLD";
    return text;
}

std::string kernel_counters_text(const StatsReport &report)
{
    std::string text;
    for (const std::string &name : report.kernel_counter_names)
        text += (text.empty() ? "counters: " : ", ") + printable(name);
    return text.empty() ? "no counters" : text;
}

// What recorded the kernel, and why that.
std::string kernel_recorder_text(const StatsReport &report)
{
    if (info_or(report, "kernel.recorder", "nsmod") == "nsmod")
        return "module " + info_or(report, "kernel.module", "unknown");
    std::string text = fmt::format("recorder {} ({})", info_or(report, "kernel.recorder", ""),
                                   info_or(report, "kernel.recorder.reason", "reason unknown"));
    if (const std::string ns = info_or(report, "kernel.clock.residual_ns", ""); !ns.empty())
        text += fmt::format(", its clock within {} ns", ns);
    return text;
}

// Which functions of programs are recorded without probes; empty if none are.
std::string functions_text(const StatsReport &report)
{
    const std::string by = info_or(report, "functions.by", "");
    if (by == "uprobes")
        return fmt::format("{} by uprobes ({}), {}", info_or(report, "functions.recorded", "?"),
                           info_or(report, "functions.by.reason", "reason unknown"),
                           kernel_recorder_text(report));
    return by.empty() ? ""
                      : fmt::format("{} by sleds, {} by patchable entries",
                                    info_or(report, "functions.by_sled", "0"),
                                    info_or(report, "functions.by_entry", "0"));
}

void put_header(const StatsReport &report, Page &page)
{
    page.line("trace     {}  {} bytes, {} records, end: {}", printable(report.path), report.bytes,
              report.records, report.end);
    page.line("machine   {}, {} CPUs, {}, virtualised: {}",
              info_or(report, "machine.cpu", "unknown"), info_or(report, "machine.cpus", "?"),
              info_or(report, "machine.kernel", "kernel unknown"),
              info_or(report, "machine.virtualised", "unknown"));
    page.line("clock     {}", clock_text(report.clock));
    std::string names;
    for (const std::string &name : report.counter_names)
        names += (names.empty() ? ": " : ", ") + printable(name);
    page.line("counters  {}{}",
              report.counter_source.empty() ? "unknown" : printable(report.counter_source), names);
    const std::string reason = info_or(report, "counters.reason", "");
    if (!reason.empty() && reason != "asked for")
        page.line("          {}", reason);
    if (const std::string groups = info_or(report, "kernel.groups", ""); !groups.empty())
        page.line("kernel    {}, {}, {}", groups, kernel_recorder_text(report),
                  kernel_counters_text(report));
    if (const std::string functions = functions_text(report); !functions.empty())
        page.line("functions {}", functions);
    page.line("records   {}", lost_text(report));
    for (const CpuLosses &cpu : report.losses.by_cpu)
        if (cpu.lost_sum() > 0 || !cpu.equation_holds || !cpu.chunks_agree)
            page.line("          {}: issued {}, drained {}, lost {}", cpu.title(), cpu.issued,
                      cpu.drained, cpu.lost_sum());
}

// The maximum over the CPUs and both ends of the session.
Hidden most_of(const StatsReport &report, std::optional<Hidden> CalibrationRow::*context)
{
    Hidden most;
    for (const auto *rows : {&report.calibration_start, &report.calibration_end})
        for (const CalibrationRow &row : *rows)
            if (const std::optional<Hidden> &one = row.*context;
                one && row.field == 0 && row.probe == kPair) {
                most.inner = std::max(most.inner, std::fabs(one->inner) - one->inner_ci95);
                most.outer = std::max(most.outer, std::fabs(one->outer));
            }
    return most;
}

std::string drift_mark(const Drift &drift)
{
    if (drift.on_cpu)
        return fmt::format(": drift on CPU {}, {:.2f} to {:.2f}", drift.on_cpu->cpu,
                           drift.on_cpu->start, drift.on_cpu->end);
    return drift.is_significant ? ": drift" : "";
}

bool uses_way(const StatsReport &report, unsigned probe)
{
    return std::any_of(report.slices.begin(), report.slices.end(), [&](const SliceReport &slice) {
        return slice.way != 0 && kFirstWay + slice.way - 1 == probe;
    });
}

// What functions cost whose slices are not made by macros.
void put_ways(const StatsReport &report, Page &page)
{
    for (const Drift &drift : report.drift)
        if (drift.field == 0 && uses_way(report, drift.probe))
            page.line("          functions ({}), {} {:.2f} ticks at the start, {:.2f} at the end{}",
                      probe_name(drift.probe), drift.is_inner ? "inner" : "outer", drift.start,
                      drift.end, drift_mark(drift));
}

// False if there is nothing to compare.
bool put_drift(const StatsReport &report, bool is_kernel, Page &page)
{
    bool has_any = false;
    for (const Drift &drift : report.drift) {
        if (drift.is_kernel != is_kernel)
            continue;
        has_any = true;
        if (drift.field == 0 && drift.probe == kPair)
            page.line("probes    {}{} {:.2f} ticks at the start, {:.2f} at the end{}",
                      is_kernel ? "kernel, " : "", drift.is_inner ? "inner" : "outer", drift.start,
                      drift.end, drift_mark(drift));
        else if (drift.field == 0 && drift.probe == kCall)
            page.line("probes    kernel, call of a BPF program {:.2f} ticks at the start, {:.2f} "
                      "at the end{}",
                      drift.start, drift.end, drift_mark(drift));
    }
    return has_any;
}

void put_calibration(const StatsReport &report, Page &page)
{
    const bool has_drift = put_drift(report, false, page);
    const Hidden most = most_of(report, &CalibrationRow::hidden);
    if (most.outer > 0)
        page.line("          work hides up to {:.2f} ticks of inner and {:.2f} of outer: included "
                  "in the intervals as bounds",
                  most.inner, most.outer);
    if (const Hidden overtaking = most_of(report, &CalibrationRow::overtaking);
        overtaking.inner > most.inner && report.clock.mode != "ordered")
        page.line("          a clock read overtakes up to {:.2f} ticks of arithmetic before it: "
                  "included in the intervals as a bound; loads from memory that it overtakes are "
                  "not; clock=ordered prevents it",
                  overtaking.inner);
    if (has_drift)
        return;
    for (const CalibrationRow &row : report.calibration_start)
        if (row.field == 0 && row.probe == kPair)
            page.line("probes    cpu {}: inner {:.2f} ± {:.2f} ticks, outer {:.2f} ± {:.2f}",
                      row.cpu == NSLICE_ANY_CPU ? "any" : std::to_string(row.cpu), row.inner,
                      row.inner_ci95, row.outer, row.outer_ci95);
}

void put_kernel_calibration(const StatsReport &report, Page &page)
{
    if (put_drift(report, true, page))
        return;
    for (const CalibrationRow &row : report.calibration_kernel)
        if (row.field == 0 && row.probe == kPair)
            page.line(
                "probes    kernel, cpu {}: inner {:.2f} ± {:.2f} ticks, outer {:.2f} ± {:.2f}",
                row.cpu, row.inner, row.inner_ci95, row.outer, row.outer_ci95);
        else if (row.field == 0 && row.probe == kCall)
            page.line("probes    kernel, cpu {}: call of a BPF program {:.2f} ± {:.2f} ticks",
                      row.cpu, row.outer, row.outer_ci95);
}

void put_classes(const StatsReport &report, const SliceList &slices, Page &page)
{
    page.line("");
    for (const UnitReport &unit : report.units)
        page.line("unit      {}: {}, {}, {}", marked_name(unit), counted(unit.units, "unit"),
                  counted(unit.packets, "packet"), counted(unit.wire_bytes, "byte"));
    for (const MarkReport &mark : report.marks)
        page.line("mark      {}: {}, mean {:.2f}, min {}, max {}", marked_name(mark),
                  counted(mark.count, "time"), mark.mean, mark.min, mark.max);
    const Classes &classes = report.classes;
    page.line("classes   below noise {}, interrupted {}, uncounted {}; excluded: migrated {}, "
              "spans a loss {}, crossed {}, "
              "unmatched START {}, unmatched STOP {}, too deep {}, unknown kind {}",
              classes.below_noise, classes.interrupted, classes.uncounted, classes.migrated,
              classes.spans_loss, classes.crossed, classes.unmatched_start, classes.unmatched_stop,
              classes.too_deep, classes.unknown_kind);
    for (const SliceReport *one : slices) {
        const SliceReport &slice = *one;
        const uint64_t left_out = slice.migrated + slice.spans_loss + slice.crossed +
                                  slice.unmatched_start + slice.unmatched_stop + slice.too_deep;
        if (left_out + slice.below_noise + slice.interrupted + slice.uncounted > 0)
            page.line("          {}: below noise {}, interrupted {}, uncounted {}, migrated {}, "
                      "spans a loss {}, "
                      "crossed {}, unmatched {} / {}, too deep {}",
                      printable(slice.name), slice.below_noise, slice.interrupted, slice.uncounted,
                      slice.migrated, slice.spans_loss, slice.crossed, slice.unmatched_start,
                      slice.unmatched_stop, slice.too_deep);
    }
    for (const SliceReport *slice : slices)
        if (slice->taken_ticks != 0)
            page.line("          {}: subtracted {:.1f} ticks: {} interrupts, {} switches, and the "
                      "kernel's probes",
                      printable(slice->name), slice->taken_ticks, slice->interrupts,
                      slice->switches);
    if (!report.incomplete.empty())
        page.line(
            "?         figures that may be wrong, since they depend on missing or damaged parts:");
    for (const std::string &reason : report.incomplete)
        page.line("          {}", printable(reason));
    for (const Damage &damage : report.damage)
        page.line("damage    at byte {}: {}, {} bytes skipped", damage.offset, damage.what,
                  damage.bytes);
    for (const std::string &warning : report.warnings)
        if (!warning.starts_with(kIncompletePrefix)) // listed above
            page.line("warning   {}", printable(warning));
}
} // namespace

std::string stats_text(const StatsReport &report)
{
    Page page;
    put_header(report, page);
    put_calibration(report, page);
    put_kernel_calibration(report, page);
    put_ways(report, page);
    const SliceList slices = by_cost(report);
    page.add(field_tables_text(report, slices));
    page.add(thinning_text(report, slices));
    put_classes(report, slices, page);
    return page.take();
}
} // namespace nsdump
