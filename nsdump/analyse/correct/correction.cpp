// SPDX-License-Identifier: MIT
// analyse: the calibrations of a trace (or calibration.json) -> the constants to subtract on each
// CPU.
#include "analyse/correct/correction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyse/correct/kernel_rows.hpp"
#include "decode/clock.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
bool is_usable(double value)
{
    return std::isfinite(value) && std::fabs(value) < 1e15;
}

// The probe's counter names if they differ from the trace's; a file without names is accepted
// unchanged.
std::string counters_unlike(const ProbeCost &probe, const std::vector<std::string> &wanted)
{
    std::vector<std::string> names;
    for (const CounterCost &cost : probe.counter_costs)
        names.push_back(cost.counter);
    return names.empty() || names == wanted ? std::string{}
                                            : fmt::format("{}", fmt::join(names, ","));
}
} // namespace

std::optional<unsigned> probe_of_kind(unsigned kind)
{
    switch (kind) {
    case NSLICE_KIND_START: return kPair;
    case NSLICE_KIND_MARK: return kMark;
    case NSLICE_KIND_INIT: return kInit;
    case NSLICE_KIND_EXIT: return kExit;
    default: return std::nullopt;
    }
}

std::optional<unsigned> probe_of_entry(unsigned kind, bool is_kernel)
{
    const unsigned way = (kind & NSLICE_WAY_MASK) >> NSLICE_WAY_SHIFT;
    const auto probe = probe_of_kind(kind & ~NSLICE_WAY_MASK);
    if (way == 0 || !probe)
        return probe;
    const unsigned index = way - 1 + (is_kernel ? 0 : kKernelWays);
    return *probe == kPair && index < kWays ? std::optional(kFirstWay + index) : std::nullopt;
}

const char *probe_name(unsigned probe)
{
    static constexpr const char *kNames[kProbes] = {"START", "MARK", "INIT",
                                                    "EXIT",  "CALL", "BEHIND"};
    static constexpr const char *kWayNames[kWays] = {"UPROBE", "UPROBE_STEPPED", "UPROBE_OPTIMISED",
                                                     "SLED", "ENTRY"};
    if (probe >= kFirstWay && probe < kFirstWay + kWays)
        return kWayNames[probe - kFirstWay];
    return probe < kProbes ? kNames[probe] : "UNKNOWN";
}

Correction::Correction(const TraceFile &trace, const CalibrationFile *extra)
    : fields_(1 + std::max(trace.counter_names().size(), trace.kernel_counter_names().size())),
      kernel_start_(kernel_rows(trace.kernel_calibrations(), NSLICE_CALIBRATION_START)),
      kernel_end_(kernel_rows(trace.kernel_calibrations(), NSLICE_CALIBRATION_END))
{
    if (extra)
        take_file(trace, *extra);
    else
        take_trace(trace);
    const std::vector<Drift> of_kernel = drift_of(kernel_start_.all(), kernel_end_.all(), true);
    drift_.insert(drift_.end(), of_kernel.begin(), of_kernel.end());
    build(trace.cpus());
}

bool Correction::has_constants() const
{
    return !start_.empty() || !end_.empty();
}

namespace
{
using Sums = std::map<std::tuple<uint32_t, unsigned, unsigned>, RowSum>;

std::vector<CalibrationRow> rows_of(const Sums &sums)
{
    std::vector<CalibrationRow> rows;
    for (const auto &[key, sum] : sums)
        rows.push_back(sum.mean(std::get<0>(key), std::get<1>(key), std::get<2>(key)));
    return rows;
}

using EntryKey = std::tuple<uint32_t, unsigned, unsigned>; // CPU, kind, field

constexpr unsigned kContexts = NSLICE_ENTRY_ALONE | NSLICE_ENTRY_OVERTAKING;

bool is_usable(const nslice_calibration_entry &entry)
{
    return is_usable(entry.inner) && is_usable(entry.outer) && is_usable(entry.inner_ci95) &&
           is_usable(entry.outer_ci95) && entry.inner_ci95 >= 0 && entry.outer_ci95 >= 0;
}

// Whether the format has such entries: only ticks of the pair are measured with overtaking.
bool has_context(const nslice_calibration_entry &entry)
{
    return !(entry.kind & NSLICE_ENTRY_OVERTAKING) ||
           (entry.kind == (NSLICE_KIND_START | NSLICE_ENTRY_OVERTAKING) && entry.field == 0);
}

// The constants of probes in one of the contexts that bound those between work.
class InContext
{
public:
    InContext(const Calibration &calibration, unsigned context)
    {
        for (const nslice_calibration_entry &entry : calibration.entries)
            if ((entry.kind & kContexts) == context && has_context(entry) && is_usable(entry))
                entries_[{entry.cpu, entry.kind & ~kContexts, entry.field}] = &entry;
    }
    // By how much they are larger than the entry's.
    std::optional<Hidden> beyond(const nslice_calibration_entry &entry) const
    {
        const auto found = entries_.find({entry.cpu, entry.kind, entry.field});
        if (found == entries_.end())
            return std::nullopt;
        return Hidden{found->second->inner - entry.inner, found->second->outer - entry.outer,
                      found->second->inner_ci95 + entry.inner_ci95, found->second->outer_ci95};
    }

private:
    std::map<EntryKey, const nslice_calibration_entry *> entries_;
};

// Processes that calibrated both at their start and at their end.
std::set<uint32_t> whole_processes(const TraceFile &trace)
{
    std::set<uint32_t> begun, whole;
    for (const Calibration &calibration : trace.calibrations())
        if (calibration.phase != NSLICE_CALIBRATION_END)
            begun.insert(calibration.pid);
        else if (begun.contains(calibration.pid))
            whole.insert(calibration.pid);
    return whole;
}
} // namespace

void Correction::take_trace(const TraceFile &trace)
{
    Sums sums[2], whole_sums[2];
    uint64_t refused = 0;
    const std::set<uint32_t> whole = whole_processes(trace);
    for (const Calibration &calibration : trace.calibrations()) {
        const bool is_end = calibration.phase == NSLICE_CALIBRATION_END;
        const InContext alone(calibration, NSLICE_ENTRY_ALONE),
            overtaking(calibration, NSLICE_ENTRY_OVERTAKING);
        for (const nslice_calibration_entry &entry : calibration.entries) {
            const auto probe = probe_of_entry(entry.kind & ~kContexts, false);
            if (!probe || entry.field >= fields_ || !has_context(entry) || !is_usable(entry)) {
                ++refused;
                continue;
            }
            if (entry.kind & kContexts)
                continue;
            const double degrees = entry.degrees > 0 ? entry.degrees : kManyDegrees;
            CalibrationRow row = {entry.cpu,        *probe,      entry.field,      entry.inner,
                                  entry.inner_ci95, entry.outer, entry.outer_ci95, entry.samples,
                                  entry.trimmed,    degrees};
            row.hidden = alone.beyond(entry);
            row.overtaking = overtaking.beyond(entry);
            sums[is_end][{entry.cpu, *probe, entry.field}].add(row);
            if (whole.contains(calibration.pid))
                whole_sums[is_end][{entry.cpu, *probe, entry.field}].add(row);
        }
    }
    start_ = CalibrationRows(rows_of(sums[0]));
    end_ = CalibrationRows(rows_of(sums[1]));
    drift_ = drift_of(rows_of(whole_sums[0]), rows_of(whole_sums[1]), false);
    if (refused > 0)
        warnings_.push_back(
            fmt::format("{} calibration entries of the trace cannot be used", refused));
    if (trace.skipped_calibrations() > 0)
        warnings_.push_back(fmt::format(
            "{} calibrations after the first ones were ignored: the trace has too many processes",
            trace.skipped_calibrations()));
    const bool has_programs = !trace.cpus().empty() && !trace.cpus().front().is_kernel;
    if (start_.empty() && end_.empty() && (has_programs || trace.cpus().empty()))
        warnings_.push_back(
            "the trace has no calibration: only raw values are shown (use --calibration)");
    else if (end_.empty() && has_programs)
        warnings_.push_back("no calibration at the end of the session: drift is unknown");
}

void Correction::take_file(const TraceFile &trace, const CalibrationFile &file)
{
    const auto matches = [](const std::string &probe, const std::string &session) {
        return session.empty() || probe == session;
    };
    const std::string source = trace.info("counters.source");
    std::vector<CalibrationRow> rows;
    std::string other_counters; // of a probe that matches in everything else
    for (const ProbeCost &probe : file.probes) {
        unsigned index = kPair;
        while (index < kProbes && probe.macro != probe_name(index) &&
               !(index == kPair && probe.macro == "START+STOP"))
            ++index;
        if (index == kProbes || !matches(probe.mode, trace.info("clock.mode")) ||
            !matches(probe.ring, trace.info("ring.kind")) || !matches(probe.counters, source) ||
            !is_usable(probe.inner_ticks) || !is_usable(probe.outer_ticks))
            continue;
        if (const std::string others = counters_unlike(probe, trace.counter_names());
            !others.empty()) {
            other_counters = others;
            continue;
        }
        rows.push_back({NSLICE_ANY_CPU, index, 0, probe.inner_ticks, probe.inner_ci95,
                        probe.outer_ticks, probe.outer_ci95, probe.batches, probe.trimmed,
                        kManyDegrees});
        if (probe.outer_hidden_ticks)
            rows.back().hidden = {probe.inner_hidden_ticks.value_or(0), *probe.outer_hidden_ticks};
        if (probe.inner_overtaking_ticks && probe.outer_overtaking_ticks)
            rows.back().overtaking = {*probe.inner_overtaking_ticks, *probe.outer_overtaking_ticks};
        for (size_t i = 0; i < trace.counter_names().size(); ++i)
            if (!probe.counter_costs.empty()) {
                const CounterCost &cost = probe.counter_costs[i];
                rows.push_back({NSLICE_ANY_CPU, index, unsigned(i + 1), cost.inner, cost.inner_ci95,
                                cost.outer, cost.outer_ci95, probe.batches, probe.trimmed,
                                kManyDegrees});
            } else if (trace.counter_names()[i] == "instructions" && probe.outer_instructions)
                rows.push_back({NSLICE_ANY_CPU, index, unsigned(i + 1),
                                probe.inner_instructions.value_or(0), 0, *probe.outer_instructions,
                                0, probe.batches, probe.trimmed, kManyDegrees});
    }
    start_ = CalibrationRows(std::move(rows));
    warn_of(trace, file);
    if (!start_.find(NSLICE_ANY_CPU, kPair, 0) && !other_counters.empty())
        throw TraceError(fmt::format("the calibration file was made with the counters {}, this "
                                     "trace with {}, and probe costs depend on them (run "
                                     "`nscalibrate --counters {} -w FILE`)",
                                     other_counters, trace.info("counters.names"),
                                     trace.info("counters.names")));
    if (!start_.find(NSLICE_ANY_CPU, kPair, 0))
        throw TraceError(fmt::format(
            "the calibration file has no START+STOP measured with mode \"{}\", ring \"{}\", "
            "counters \"{}\", the settings of this trace (calibrate on a machine that has them)",
            trace.info("clock.mode"), trace.info("ring.kind"), source));
}

void Correction::warn_of(const TraceFile &trace, const CalibrationFile &file)
{
    constexpr double kSameRate = 0.01;
    const double hz = clock_of(trace).hz;
    if (!file.is_trusted)
        warnings_.push_back(
            "the calibration file is marked as untrusted; calibrate again on a quiet machine");
    if (!file.context.cpu.empty() && !trace.info("machine.cpu").empty() &&
        file.context.cpu != trace.info("machine.cpu"))
        warnings_.push_back(fmt::format("the calibration file is from another machine ({}; the "
                                        "trace's is {}): net values are not valid; run "
                                        "nscalibrate on the machine of the trace",
                                        file.context.cpu, trace.info("machine.cpu")));
    if (!file.context.arch.empty() && !trace.info("machine.arch").empty() &&
        file.context.arch != trace.info("machine.arch"))
        warnings_.push_back(fmt::format("the calibration file is from a machine with architecture "
                                        "{}, the trace from one with {}: net values are not "
                                        "valid; run nscalibrate on the machine of the trace",
                                        file.context.arch, trace.info("machine.arch")));
    if (!trace.info("writer.version").empty() &&
        file.context.version != trace.info("writer.version"))
        warnings_.push_back(
            fmt::format("the calibration file was made by version {} of the toolkit, the trace by "
                        "{}: their probe costs may "
                        "differ; run nscalibrate of the trace's version",
                        file.context.version.empty() ? "(unknown)" : file.context.version,
                        trace.info("writer.version")));
    if (hz > 0 && std::fabs(file.clock.hz - hz) > kSameRate * hz)
        warnings_.push_back(fmt::format(
            "the calibration file's clock runs at {:.4g} GHz, the trace's at {:.4g}: net values "
            "are not valid; run nscalibrate on the machine of the trace",
            file.clock.hz / 1e9, hz / 1e9));
}

void Correction::build(const std::vector<CpuChunks> &cpus)
{
    uint64_t borrowed = 0;
    for (const CpuChunks &cpu : cpus)
        borrowed += !cpu.is_kernel && has_constants() && !has_own_row(start_, end_, cpu.cpu);
    if (borrowed > 0)
        warnings_.push_back(
            fmt::format("{} CPUs were not calibrated themselves: the mean of the others is used, "
                        "with their spread in the interval",
                        borrowed));
    table_.resize(cpus.size() * fields_);
    gaps_.resize(cpus.size());
    build_side(cpus, false);
    build_side(cpus, true);
    build_ways(cpus);
    if (disturbed_ > 0)
        warnings_.push_back(fmt::format(
            "on {} CPUs the calibration gives START + STOP a negative cost: it was disturbed, "
            "and net values are unreliable; record again on a quieter machine, or use "
            "--calibration",
            disturbed_));
    warn_of_kernel(cpus);
}

void Correction::warn_of_kernel(const std::vector<CpuChunks> &cpus)
{
    uint64_t kernel_cpus = 0, borrowed = 0;
    for (const CpuChunks &cpu : cpus) {
        kernel_cpus += cpu.is_kernel;
        borrowed += cpu.is_kernel && !has_own_row(kernel_start_, kernel_end_, cpu.cpu);
    }
    if (kernel_cpus == 0)
        return;
    if (kernel_start_.empty() && kernel_end_.empty()) {
        warnings_.push_back("the kernel's probes were not calibrated: their slices have only raw "
                            "values, and their cost is not subtracted "
                            "from programs' slices");
        return;
    }
    if (kernel_start_.empty() || kernel_end_.empty())
        warnings_.push_back(fmt::format("no calibration of the kernel's probes at the {} of the "
                                        "recording: their drift is unknown",
                                        kernel_end_.empty() ? "end" : "start"));
    if (borrowed > 0)
        warnings_.push_back(fmt::format(
            "the kernel's probes were not calibrated on {} CPUs: the mean of the others is used, "
            "with their spread in the interval",
            borrowed));
}

// Programs and the kernel are calibrated separately: a CPU without its own constants uses those of
// its side.
void Correction::build_side(const std::vector<CpuChunks> &cpus, bool is_kernel)
{
    const CalibrationRows &start = is_kernel ? kernel_start_ : start_,
                          &end = is_kernel ? kernel_end_ : end_;
    std::optional<size_t> first_shared;
    for (size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        if (cpus[cpu].is_kernel != is_kernel)
            continue;
        const bool is_own = is_measured_itself(start, end, cpus[cpu].cpu);
        if (!is_own && !first_shared)
            first_shared = cpu;
        for (unsigned field = 0; field < fields_; ++field) {
            FieldConstants &constants = table_[cpu * fields_ + field];
            constants.source = uint32_t(is_own ? cpu : *first_shared);
            set_constants(constants, is_kernel, cpus[cpu].cpu, field);
            if (const auto pair = probe_constants(start, end, cpus[cpu].cpu, kPair, field);
                pair && field == 0)
                gaps_[cpu] = gaps_of(*pair);
        }
    }
}

void Correction::build_ways(const std::vector<CpuChunks> &cpus)
{
    ways_.resize(cpus.size() * fields_);
    for (size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        for (unsigned field = 0; field < fields_; ++field) {
            WayTable &table = ways_[cpu * fields_ + field];
            table.source = uint32_t(cpus.size() + cpu);
            for (unsigned way = 0; way < kWays; ++way) {
                const bool is_kernel = way < kKernelWays;
                auto found = probe_constants(is_kernel ? kernel_start_ : start_,
                                             is_kernel ? kernel_end_ : end_, cpus[cpu].cpu,
                                             kFirstWay + way, field);
                if (!found)
                    continue;
                // Their STOPs overtake as much as those of macros.
                if (const auto pair = probe_constants(start_, end_, cpus[cpu].cpu, kPair, field);
                    pair && !is_kernel)
                    found->inner.overtaking = pair->inner.overtaking;
                table.ways[way] = {true,
                                   found->inner.value,
                                   found->inner.ci95,
                                   found->inner.bound(),
                                   found->outer.value,
                                   found->outer.ci95,
                                   found->outer.bound(),
                                   found->outer.degrees};
            }
        }
    }
}

// The gap is a part of outer, so neither its interval nor its drift is larger.
GapConstants Correction::gaps_of(const ProbeConstants &pair)
{
    const GapConstant after_work{pair.outer.value - pair.inner.value, pair.outer.ci95,
                                 pair.outer.degrees, pair.outer.moved};
    GapConstant after_probe = after_work;
    after_probe.value += pair.outer.hidden.value_or(0) - pair.inner.hidden.value_or(0);
    GapConstant after_overtaking = after_probe;
    if (-pair.inner.overtaking.value_or(0) - pair.inner.overtaking_ci95 >
        std::fabs(pair.inner.hidden.value_or(0)))
        after_overtaking.value =
            std::fmax(after_probe.value, after_work.value + pair.outer.overtaking.value_or(0) -
                                             pair.inner.overtaking.value_or(0));
    GapConstant least_after_probe = after_probe;
    if (pair.least_gap)
        least_after_probe = {pair.least_gap->value, pair.least_gap->ci95, pair.least_gap->degrees,
                             0};
    return {after_work, after_probe, least_after_probe, after_overtaking};
}

void Correction::set_constants(FieldConstants &constants, bool is_kernel, uint32_t cpu,
                               unsigned field)
{
    const CalibrationRows &start = is_kernel ? kernel_start_ : start_,
                          &end = is_kernel ? kernel_end_ : end_;
    for (unsigned probe = 0; probe < kProbes; ++probe) {
        const auto found = probe_constants(start, end, cpu, probe, field);
        if (!found)
            continue;
        constants.outer[probe] = found->outer.value;
        constants.outer_ci95[probe] = found->outer.ci95;
        constants.outer_bound[probe] = found->outer.bound();
        constants.degrees[probe] = found->outer.degrees;
        if (probe != kPair)
            continue;
        disturbed_ += field == 0 &&
                      !is_possible_cost(found->outer.value, found->outer.ci95 + found->outer.moved,
                                        found->outer.hidden.value_or(0));
        constants.is_known = true;
        constants.inner = found->inner.value;
        constants.inner_ci95 = found->inner.ci95;
        constants.inner_bound = found->inner.bound();
    }
}
} // namespace nsdump
