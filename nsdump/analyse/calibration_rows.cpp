// SPDX-License-Identifier: MIT
// analyse: rows of the calibrations at a session's start and end -> the constants of one probe on one CPU.
#include "analyse/calibration_rows.hpp"

#include <algorithm>
#include <cmath>

namespace nsdump
{
namespace
{
struct Measured {
    double value;
    double ci95;
    double degrees;
    std::optional<double> hidden;
};

Measured inner_of(const CalibrationRow &row)
{
    return {row.inner, row.inner_ci95, row.degrees, row.hidden ? std::optional(row.hidden->inner) : std::nullopt};
}

Measured outer_of(const CalibrationRow &row)
{
    return {row.outer, row.outer_ci95, row.degrees, row.hidden ? std::optional(row.hidden->outer) : std::nullopt};
}

Constant of_one_end(const Measured &one)
{
    return {one.value, one.ci95, one.degrees, 0, one.hidden};
}

// Start and end averaged.  They differ by chance, too: only what their intervals do not explain has moved.
Constant combined(const Measured &start, const Measured &end)
{
    Uncertainty difference;
    difference.add_ci95(start.ci95, start.degrees);
    difference.add_ci95(end.ci95, end.degrees);
    const double chance = difference.ci95(), apart = end.value - start.value;
    const auto hidden = start.hidden && end.hidden ? std::optional((*start.hidden + *end.hidden) / 2)
                                                   : start.hidden ? start.hidden : end.hidden;
    return {(start.value + end.value) / 2, chance / 2, difference.degrees(),
            std::sqrt(std::fmax(apart * apart - chance * chance, 0)) / 2, hidden};
}
} // namespace

std::optional<CalibrationRow> find_row(const CalibrationRows &rows, std::uint32_t cpu, unsigned probe,
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

bool has_own_row(const CalibrationRows &rows, std::uint32_t cpu)
{
    return std::any_of(rows.begin(), rows.end(),
                       [cpu](const CalibrationRow &row) { return row.cpu == cpu || row.cpu == NSLICE_ANY_CPU; });
}

std::optional<ProbeConstants> probe_constants(const CalibrationRows &start,
                                              const CalibrationRows &end, std::uint32_t cpu,
                                              unsigned probe, unsigned field)
{
    const auto a = find_row(start, cpu, probe, field);
    const auto b = find_row(end, cpu, probe, field);
    if (!a && !b)
        return std::nullopt;
    if (!a || !b) {
        const CalibrationRow &row = a ? *a : *b;
        return ProbeConstants{of_one_end(inner_of(row)), of_one_end(outer_of(row))};
    }
    return ProbeConstants{combined(inner_of(*a), inner_of(*b)), combined(outer_of(*a), outer_of(*b))};
}

bool is_measured_itself(const CalibrationRows &start, const CalibrationRows &end,
                        std::uint32_t cpu)
{
    const auto has = [cpu](const CalibrationRows &rows) {
        return rows.empty() || std::any_of(rows.begin(), rows.end(),
                                           [cpu](const CalibrationRow &row) { return row.cpu == cpu; });
    };
    return has(start) && has(end);
}
} // namespace nsdump
