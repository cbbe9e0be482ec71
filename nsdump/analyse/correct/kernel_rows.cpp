// SPDX-License-Identifier: MIT
// analyse: the kernel's own calibration, as integer sums -> rows of constants.
#include "analyse/correct/kernel_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analyse/correct/correction.hpp"

namespace nsdump
{
namespace
{
constexpr double kUnit = 1.0 / 1024; // of the sums

struct MeanOfBatches {
    double mean;
    double ci95;
};

// `squares`: sum of squared distances from the mean, in kUnit squared.
MeanOfBatches mean_of(int64_t sum, int64_t squares, unsigned batches)
{
    const double n = batches;
    const double variance =
        batches > 1 ? std::fmax(double(squares), 0) * kUnit * kUnit / (n - 1) : 0;
    return {double(sum) * kUnit / n,
            batches > 1 ? student_t95(n - 1) * std::sqrt(variance / n) : 0};
}

constexpr unsigned kFlags = NSLICE_ENTRY_IN_PROGRAM | NSLICE_ENTRY_ALONE;

std::optional<CalibrationRow> row_of(const nslice_kernel_calibration_entry &entry)
{
    const auto probe = probe_of_entry(entry.kind & ~kFlags, true);
    if (!probe || entry.batches == 0 || entry.field > NSLICE_MAX_COUNTERS)
        return std::nullopt;
    const MeanOfBatches inner = mean_of(entry.inner_sum, entry.inner_squares, entry.batches);
    const MeanOfBatches outer = mean_of(entry.outer_sum, entry.outer_squares, entry.batches);
    return CalibrationRow{entry.cpu,   *probe,
                          entry.field, inner.mean,
                          inner.ci95,  outer.mean,
                          outer.ci95,  entry.batches,
                          0,           entry.batches > 1 ? entry.batches - 1.0 : kManyDegrees};
}

bool is_in_program(const nslice_kernel_calibration_entry &entry)
{
    return (entry.kind & NSLICE_ENTRY_IN_PROGRAM) != 0;
}

// Half of what a pair costs more than another one.
CalibrationRow more_of(unsigned probe, const CalibrationRow &costly, const CalibrationRow &pair)
{
    Uncertainty error;
    error.add_ci95(costly.outer_ci95 / 2, costly.degrees);
    error.add_ci95(pair.outer_ci95 / 2, pair.degrees);
    CalibrationRow more = costly;
    more.probe = probe;
    more.inner = more.inner_ci95 = 0;
    more.outer = (costly.outer - pair.outer) / 2;
    more.outer_ci95 = error.ci95();
    more.degrees = error.degrees();
    return more;
}

// Rows by CPU, probe and field.
using RowTable = std::map<std::tuple<uint32_t, unsigned, unsigned>, CalibrationRow>;

const CalibrationRow *row_in(const RowTable &table, const CalibrationRow &like)
{
    const auto found = table.find({like.cpu, like.probe, like.field});
    return found != table.end() ? &found->second : nullptr;
}

// Adds to the rows of records in programs what they cost more elsewhere.
void append_more(const RowTable &with_calls, const RowTable &alone,
                 std::vector<CalibrationRow> &rows)
{
    for (size_t i = rows.size(); i-- > 0;) {
        if (const CalibrationRow *const row = row_in(alone, rows[i])) {
            rows[i].hidden = {row->inner - rows[i].inner, row->outer - rows[i].outer};
            if (row->probe == kPair)
                rows.push_back(more_of(kBehind, *row, rows[i]));
        }
        if (const CalibrationRow *const row = row_in(with_calls, rows[i]);
            row && row->probe == kPair)
            rows.push_back(more_of(kCall, *row, rows[i]));
    }
}
} // namespace

// An empty pair reads the most that a record in another one hides; the reading grows slowly with
// the work between the two, and as the work from about this share more on (measured with chains of
// multiplications, tests/bench/nsbpf_slices_bench.cpp).
BpfCosts bpf_costs(const std::vector<KernelCalibration> &calibrations)
{
    constexpr double kFarShare = 0.7;
    BpfCosts costs;
    double alone = 0, between_work = 0;
    unsigned alone_rows = 0, work_rows = 0;
    for (const KernelCalibration &calibration : calibrations)
        for (const nslice_kernel_calibration_entry &entry : calibration.entries) {
            costs.has_calls |= is_in_program(entry);
            const auto row = row_of(entry);
            if (!row || row->probe != kPair || row->field != 0 || !is_in_program(entry))
                continue;
            const bool is_alone = (entry.kind & NSLICE_ENTRY_ALONE) != 0;
            (is_alone ? alone : between_work) += row->inner;
            ++(is_alone ? alone_rows : work_rows);
        }
    if (alone_rows == 0 || work_rows == 0)
        return costs;
    costs.behind_ticks = std::fmax(alone / alone_rows, 0);
    costs.far_ticks = costs.behind_ticks +
                      kFarShare * std::fmax(alone / alone_rows - between_work / work_rows, 0);
    return costs;
}

CalibrationRows kernel_rows(const std::vector<KernelCalibration> &calibrations,
                            nslice_calibration_phase phase)
{
    const bool has_calls = bpf_costs(calibrations).has_calls;
    std::vector<CalibrationRow> rows;
    RowTable with_calls, alone;
    for (const KernelCalibration &calibration : calibrations)
        for (const nslice_kernel_calibration_entry &entry : calibration.entries) {
            const auto row = row_of(entry);
            if (!row || calibration.phase != phase)
                continue;
            if (entry.kind & NSLICE_ENTRY_ALONE)
                alone.try_emplace({row->cpu, row->probe, row->field}, *row);
            else if (has_calls && !is_in_program(entry) && row->probe < kFirstWay)
                with_calls.try_emplace({row->cpu, row->probe, row->field}, *row);
            else
                rows.push_back(*row);
        }
    append_more(with_calls, alone, rows);
    return CalibrationRows(std::move(rows));
}
} // namespace nsdump
