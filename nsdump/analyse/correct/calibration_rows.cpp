// SPDX-License-Identifier: MIT
// analyse: rows of the calibrations at a session's start and end -> the constants of one probe on
// one CPU.
#include "analyse/correct/calibration_rows.hpp"

#include <cmath>

namespace nsdump
{
namespace
{
struct Measured {
    double value;
    double ci95;
    double degrees;
    std::optional<double> hidden, overtaking;
    double overtaking_ci95 = 0;
};

std::optional<double> part_of(const std::optional<Hidden> &hidden, double Hidden::*part)
{
    return hidden ? std::optional((*hidden).*part) : std::nullopt;
}

Measured inner_of(const CalibrationRow &row)
{
    return {row.inner,
            row.inner_ci95,
            row.degrees,
            part_of(row.hidden, &Hidden::inner),
            part_of(row.overtaking, &Hidden::inner),
            row.overtaking ? row.overtaking->inner_ci95 : 0};
}

Measured outer_of(const CalibrationRow &row)
{
    return {row.outer, row.outer_ci95, row.degrees, part_of(row.hidden, &Hidden::outer),
            part_of(row.overtaking, &Hidden::outer)};
}

// The gap is a part of outer, so its interval is no larger.
std::optional<LeastGap> gap_alone_of(const CalibrationRow &row)
{
    if (!row.hidden)
        return std::nullopt;
    return LeastGap{row.outer + row.hidden->outer - row.inner - row.hidden->inner,
                    row.hidden->outer_alone_ci95.value_or(row.outer_ci95), row.degrees};
}

// What disturbs a calibration makes probes more expensive.
std::optional<LeastGap> least_gap(const std::optional<CalibrationRow> &start,
                                  const std::optional<CalibrationRow> &end)
{
    const auto at_start = start ? gap_alone_of(*start) : std::nullopt,
               at_end = end ? gap_alone_of(*end) : std::nullopt;
    if (!at_start || !at_end)
        return at_start ? at_start : at_end;
    return at_start->value + at_start->ci95 <= at_end->value + at_end->ci95 ? at_start : at_end;
}

Constant of_one_end(const Measured &one)
{
    return {one.value, one.ci95, one.degrees, 0, one.hidden, one.overtaking, one.overtaking_ci95};
}

std::optional<double> mean_of_ends(const std::optional<double> &start,
                                   const std::optional<double> &end)
{
    if (start && end)
        return (*start + *end) / 2;
    return start ? start : end;
}

// The average of start and end.  They also differ by chance: only the part that their intervals do
// not explain counts as moved.
Constant combined(const Measured &start, const Measured &end)
{
    Uncertainty difference;
    difference.add_ci95(start.ci95, start.degrees);
    difference.add_ci95(end.ci95, end.degrees);
    const double chance = difference.ci95(), apart = end.value - start.value;
    return {(start.value + end.value) / 2,
            chance / 2,
            difference.degrees(),
            std::sqrt(std::fmax(apart * apart - chance * chance, 0)) / 2,
            mean_of_ends(start.hidden, end.hidden),
            mean_of_ends(start.overtaking, end.overtaking),
            std::fmax(start.overtaking_ci95, end.overtaking_ci95)};
}
} // namespace

CalibrationRows::CalibrationRows(std::vector<CalibrationRow> rows) : rows_(std::move(rows))
{
    for (size_t place = 0; place < rows_.size(); ++place) {
        const CalibrationRow &row = rows_[place];
        places_.try_emplace({row.cpu, row.probe, row.field}, place);
        cpus_.insert(row.cpu);
        if (row.cpu != NSLICE_ANY_CPU)
            sums_[{row.probe, row.field}].add(row);
    }
}

std::optional<CalibrationRow> CalibrationRows::find(uint32_t cpu, unsigned probe,
                                                    unsigned field) const
{
    for (const uint32_t wanted : {cpu, NSLICE_ANY_CPU})
        if (const auto found = places_.find({wanted, probe, field}); found != places_.end())
            return rows_[found->second];
    const auto others = sums_.find({probe, field});
    if (others == sums_.end())
        return std::nullopt;
    return others->second.of_another(NSLICE_ANY_CPU, probe, field);
}

bool has_own_row(const CalibrationRows &start, const CalibrationRows &end, uint32_t cpu)
{
    return start.has_cpu(cpu) || start.has_cpu(NSLICE_ANY_CPU) || end.has_cpu(cpu) ||
           end.has_cpu(NSLICE_ANY_CPU);
}

bool is_measured_itself(const CalibrationRows &start, const CalibrationRows &end, uint32_t cpu)
{
    return (start.empty() || start.has_cpu(cpu)) && (end.empty() || end.has_cpu(cpu));
}

std::optional<ProbeConstants> probe_constants(const CalibrationRows &start,
                                              const CalibrationRows &end, uint32_t cpu,
                                              unsigned probe, unsigned field)
{
    const auto a = start.find(cpu, probe, field);
    const auto b = end.find(cpu, probe, field);
    if (!a && !b)
        return std::nullopt;
    if (!a || !b) {
        const CalibrationRow &row = a ? *a : *b;
        return ProbeConstants{of_one_end(inner_of(row)), of_one_end(outer_of(row)),
                              least_gap(a, b)};
    }
    return ProbeConstants{combined(inner_of(*a), inner_of(*b)),
                          combined(outer_of(*a), outer_of(*b)), least_gap(a, b)};
}

} // namespace nsdump
