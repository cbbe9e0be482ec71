// SPDX-License-Identifier: MIT
// analyse: the calibrations of a trace (or calibration.json) -> the constants to subtract on each CPU.
#include "analyse/correction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analyse/student.hpp"
#include "decode/clock.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
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

bool is_usable(double value)
{
    return std::isfinite(value) && std::fabs(value) < 1e15;
}

// Sum of rows; mean() of independent means narrows the interval with the square root of their number.
struct RowSum {
    double inner = 0, inner_var = 0, inner_squares = 0, outer = 0, outer_var = 0, outer_squares = 0;
    std::uint64_t samples = 0, trimmed = 0, rows = 0;

    void add(const CalibrationRow &row)
    {
        inner += row.inner;
        inner_var += row.inner_ci95 * row.inner_ci95;
        inner_squares += row.inner * row.inner;
        outer += row.outer;
        outer_var += row.outer_ci95 * row.outer_ci95;
        outer_squares += row.outer * row.outer;
        samples += row.samples;
        trimmed += row.trimmed;
        ++rows;
    }
    CalibrationRow mean(std::uint32_t cpu, unsigned probe, unsigned field) const
    {
        const double n = static_cast<double>(rows);
        return {cpu,       probe,   field,  inner / n, std::sqrt(inner_var) / n, outer / n, std::sqrt(outer_var) / n,
                samples, trimmed};
    }
    // For a CPU that is none of these: as far off as they are from each other.
    CalibrationRow of_another(std::uint32_t cpu, unsigned probe, unsigned field) const
    {
        CalibrationRow row = mean(cpu, probe, field);
        row.inner_ci95 = std::hypot(row.inner_ci95, spread95(inner, inner_squares));
        row.outer_ci95 = std::hypot(row.outer_ci95, spread95(outer, outer_squares));
        return row;
    }

private:
    double spread95(double sum, double squares) const
    {
        if (rows < 2)
            return 0;
        const double n = static_cast<double>(rows);
        const double variance = std::fmax(squares - sum * sum / n, 0) / (n - 1);
        return student_t95(rows - 1) * std::sqrt(variance * (1 + 1 / n));
    }
};

// The CPU's own row, else the one for any CPU, else the mean over the CPUs with their spread in its interval.
std::optional<CalibrationRow> find_row(const std::vector<CalibrationRow> &rows, std::uint32_t cpu, unsigned probe,
                                       unsigned field)
{
    const CalibrationRow *any = nullptr;
    RowSum sum;
    for (const CalibrationRow &row : rows) {
        if (row.probe != probe || row.field != field)
            continue;
        if (row.cpu == cpu)
            return row;
        if (row.cpu == NSLICE_ANY_CPU)
            any = &row;
        else
            sum.add(row);
    }
    if (any)
        return *any;
    if (sum.rows == 0)
        return std::nullopt;
    return sum.of_another(NSLICE_ANY_CPU, probe, field);
}

bool has_own_row(const std::vector<CalibrationRow> &rows, std::uint32_t cpu)
{
    return std::any_of(rows.begin(), rows.end(),
                       [cpu](const CalibrationRow &row) { return row.cpu == cpu || row.cpu == NSLICE_ANY_CPU; });
}

// Start and end averaged: half their difference is a systematic part of the interval, so it is added as it is.
void combine(double start, double start_ci, double end, double end_ci, double &value, double &ci)
{
    value = (start + end) / 2;
    ci = std::hypot(start_ci, end_ci) / 2 + std::fabs(end - start) / 2;
}

bool has_drifted(double start, double start_ci, double end, double end_ci)
{
    const double moved = std::fabs(end - start);
    return moved > std::hypot(start_ci, end_ci) && moved > kDriftShare * std::fabs(start);
}

std::optional<CalibrationRow> combined_row(const std::vector<CalibrationRow> &start,
                                           const std::vector<CalibrationRow> &end, std::uint32_t cpu,
                                           unsigned probe, unsigned field)
{
    const auto a = find_row(start, cpu, probe, field);
    const auto b = find_row(end, cpu, probe, field);
    if (!a || !b)
        return a ? a : b;
    CalibrationRow row = *a;
    combine(a->inner, a->inner_ci95, b->inner, b->inner_ci95, row.inner, row.inner_ci95);
    combine(a->outer, a->outer_ci95, b->outer, b->outer_ci95, row.outer, row.outer_ci95);
    return row;
}
} // namespace

const char *probe_name(unsigned probe)
{
    static constexpr const char *kNames[kProbes] = {"START", "MARK", "INIT", "EXIT"};
    return probe < kProbes ? kNames[probe] : "UNKNOWN";
}

Correction::Correction(const TraceFile &trace, const CalibrationFile *extra)
    : fields_(1 + trace.counter_names().size())
{
    if (extra)
        take_file(trace, *extra);
    else
        take_trace(trace);
    build(trace.cpus());
}

bool Correction::has_constants() const
{
    return !start_.empty() || !end_.empty();
}

namespace
{
using Sums = std::map<std::tuple<std::uint32_t, unsigned, unsigned>, RowSum>;

std::vector<CalibrationRow> rows_of(const Sums &sums)
{
    std::vector<CalibrationRow> rows;
    for (const auto &[key, sum] : sums)
        rows.push_back(sum.mean(std::get<0>(key), std::get<1>(key), std::get<2>(key)));
    return rows;
}

// Processes that calibrated at their start and at their end.
std::set<std::uint32_t> whole_processes(const TraceFile &trace)
{
    std::set<std::uint32_t> begun, whole;
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
    std::uint64_t refused = 0;
    const std::set<std::uint32_t> whole = whole_processes(trace);
    for (const Calibration &calibration : trace.calibrations()) {
        const bool is_end = calibration.phase == NSLICE_CALIBRATION_END;
        for (const nslice_calibration_entry &entry : calibration.entries) {
            const auto probe = probe_of_kind(entry.kind);
            if (!probe || entry.field >= fields_ || !is_usable(entry.inner) || !is_usable(entry.outer) ||
                !is_usable(entry.inner_ci95) || !is_usable(entry.outer_ci95)) {
                ++refused;
                continue;
            }
            const CalibrationRow row = {entry.cpu,        *probe,        entry.field,   entry.inner, entry.inner_ci95, entry.outer,
                                        entry.outer_ci95, entry.samples, entry.trimmed};
            sums[is_end][{entry.cpu, *probe, entry.field}].add(row);
            if (whole.contains(calibration.pid))
                whole_sums[is_end][{entry.cpu, *probe, entry.field}].add(row);
        }
    }
    start_ = rows_of(sums[0]);
    end_ = rows_of(sums[1]);
    compare(rows_of(whole_sums[0]), rows_of(whole_sums[1]));
    if (refused > 0)
        warnings_.push_back(fmt::format("{} calibration entries of the trace cannot be used", refused));
    if (trace.skipped_calibrations() > 0)
        warnings_.push_back(fmt::format("{} calibrations beyond the first ones were not read: the trace is of very many processes",
                                        trace.skipped_calibrations()));
    if (start_.empty() && end_.empty())
        warnings_.push_back("the trace has no calibration: raw values only (give one with --calibration)");
    else if (end_.empty())
        warnings_.push_back("no calibration at the session's end: drift is unknown");
}

void Correction::take_file(const TraceFile &trace, const CalibrationFile &file)
{
    const auto matches = [](const std::string &probe, const std::string &session) {
        return session.empty() || probe == session;
    };
    const std::string source = trace.info("counters.source");
    for (const ProbeCost &probe : file.probes) {
        unsigned index = kPair;
        while (index < kProbes && probe.macro != probe_name(index) && !(index == kPair && probe.macro == "START+STOP"))
            ++index;
        if (index == kProbes || !matches(probe.mode, trace.info("clock.mode")) ||
            !matches(probe.ring, trace.info("ring.kind")) || !matches(probe.counters, source) ||
            !is_usable(probe.inner_ticks) || !is_usable(probe.outer_ticks))
            continue;
        start_.push_back({NSLICE_ANY_CPU, index, 0, probe.inner_ticks, probe.inner_ci95, probe.outer_ticks,
                          probe.outer_ci95, probe.batches, probe.trimmed});
        for (std::size_t i = 0; i < trace.counter_names().size(); ++i)
            if (trace.counter_names()[i] == "instructions" && probe.outer_instructions)
                start_.push_back({NSLICE_ANY_CPU, index, static_cast<unsigned>(i + 1),
                                  probe.inner_instructions.value_or(0), 0, *probe.outer_instructions, 0,
                                  probe.batches, probe.trimmed});
    }
    warn_of(trace, file);
    if (!find_row(start_, NSLICE_ANY_CPU, kPair, 0))
        throw TraceError(fmt::format("the calibration file has no START+STOP measured with mode \"{}\", ring \"{}\", "
                                     "counters \"{}\", as this trace was made; calibrate with these settings",
                                     trace.info("clock.mode"), trace.info("ring.kind"), source));
}

void Correction::warn_of(const TraceFile &trace, const CalibrationFile &file)
{
    constexpr double kSameRate = 0.01;
    const double hz = clock_of(trace).hz;
    if (!file.is_trusted)
        warnings_.push_back("the calibration file says of itself that it must not be used: calibrate again on a quiet machine");
    if (!file.context.cpu.empty() && !trace.info("machine.cpu").empty() && file.context.cpu != trace.info("machine.cpu"))
        warnings_.push_back(fmt::format("the calibration file is of another machine ({}): net values are not this trace's",
                                        file.context.cpu));
    if (hz > 0 && std::fabs(file.clock.hz - hz) > kSameRate * hz)
        warnings_.push_back(fmt::format("the calibration file's clock runs at {:.4g} GHz, the trace's at {:.4g}: net values "
                                        "are not this trace's", file.clock.hz / 1e9, hz / 1e9));
}

// Over the CPUs that both ends have: a constant that only one has cannot have moved.
void Correction::compare(const std::vector<CalibrationRow> &start, const std::vector<CalibrationRow> &end)
{
    for (unsigned field = 0; field < fields_; ++field) {
        for (unsigned probe = 0; probe < kProbes; ++probe) {
            RowSum sums[2];
            for (const CalibrationRow &row : start)
                for (const CalibrationRow &later : end)
                    if (row.probe == probe && row.field == field && later.probe == probe && later.field == field &&
                        row.cpu == later.cpu) {
                        sums[0].add(row);
                        sums[1].add(later);
                    }
            if (sums[0].rows == 0)
                continue;
            const CalibrationRow a = sums[0].mean(NSLICE_ANY_CPU, probe, field);
            const CalibrationRow b = sums[1].mean(NSLICE_ANY_CPU, probe, field);
            if (probe == kPair)
                drift_.push_back({probe, field, true, a.inner, b.inner,
                                  has_drifted(a.inner, a.inner_ci95, b.inner, b.inner_ci95)});
            drift_.push_back({probe, field, false, a.outer, b.outer,
                              has_drifted(a.outer, a.outer_ci95, b.outer, b.outer_ci95)});
        }
    }
}

void Correction::build(const std::vector<CpuChunks> &cpus)
{
    std::uint64_t borrowed = 0;
    for (const CpuChunks &cpu : cpus)
        borrowed += has_constants() && !has_own_row(start_, cpu.cpu) && !has_own_row(end_, cpu.cpu);
    if (borrowed > 0)
        warnings_.push_back(fmt::format("{} CPUs were not calibrated themselves: the mean of the others stands for them, "
                                        "with their spread in the interval", borrowed));
    table_.resize(cpus.size() * fields_);
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
        for (unsigned field = 0; field < fields_; ++field) {
            FieldConstants &constants = table_[cpu * fields_ + field];
            for (unsigned probe = 0; probe < kProbes; ++probe) {
                const auto row = combined_row(start_, end_, cpus[cpu].cpu, probe, field);
                if (!row)
                    continue;
                constants.outer[probe] = row->outer;
                constants.outer_ci95[probe] = row->outer_ci95;
                if (probe == kPair) {
                    constants.is_known = true;
                    constants.inner = row->inner;
                    constants.inner_ci95 = row->inner_ci95;
                }
            }
        }
    }
}
} // namespace nsdump
