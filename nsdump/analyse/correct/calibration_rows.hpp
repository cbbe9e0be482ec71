// SPDX-License-Identifier: MIT
// analyse: rows of the calibrations at a session's start and end -> the constants of one probe on
// one CPU.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyse/correct/calibration_row.hpp"
#include "analyse/correct/student.hpp"
#include "analyse/correct/uncertainty.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
// Sum of rows.  mean() treats them as independent, so its interval narrows with the square root of
// their number.
struct RowSum {
    double inner = 0, inner_squares = 0, outer = 0, outer_squares = 0;
    // Over the rows that have them.
    struct HiddenSum {
        double inner = 0, outer = 0, inner_ci95 = 0, rows = 0;
        double alone_rows = 0, alone_squares = 0; // of outer_alone_ci95
        std::optional<Hidden> most = {};          // by `inner`

        void add(const std::optional<Hidden> &one)
        {
            if (!one)
                return;
            inner += one->inner;
            outer += one->outer;
            inner_ci95 += one->inner_ci95;
            ++rows;
            if (one->outer_alone_ci95) {
                alone_squares += *one->outer_alone_ci95 * *one->outer_alone_ci95;
                ++alone_rows;
            }
            if (!most || std::fabs(one->inner) > std::fabs(most->inner))
                most = one;
        }
        // `all`: rows of the sum.
        std::optional<Hidden> mean(double all) const
        {
            if (rows == 0)
                return std::nullopt;
            Hidden out{inner / rows, outer / rows, inner_ci95 / rows};
            if (alone_rows == all)
                out.outer_alone_ci95 = std::sqrt(alone_squares) / all;
            return out;
        }
    } hidden, overtaking;
    Uncertainty inner_error, outer_error;
    uint64_t samples = 0, trimmed = 0, rows = 0;

    void add(const CalibrationRow &row)
    {
        inner += row.inner;
        inner_error.add_ci95(row.inner_ci95, row.degrees);
        inner_squares += row.inner * row.inner;
        outer += row.outer;
        outer_error.add_ci95(row.outer_ci95, row.degrees);
        outer_squares += row.outer * row.outer;
        hidden.add(row.hidden);
        overtaking.add(row.overtaking);
        samples += row.samples;
        trimmed += row.trimmed;
        ++rows;
    }
    CalibrationRow mean(uint32_t cpu, unsigned probe, unsigned field) const
    {
        const double n = double(rows);
        return {cpu,
                probe,
                field,
                inner / n,
                inner_error.ci95() / n,
                outer / n,
                outer_error.ci95() / n,
                samples,
                trimmed,
                outer_error.degrees(),
                hidden.mean(n),
                overtaking.mean(n)};
    }
    // For a CPU that has no row: its interval includes the spread between the CPUs.
    CalibrationRow of_another(uint32_t cpu, unsigned probe, unsigned field) const
    {
        CalibrationRow row = mean(cpu, probe, field);
        row.inner_ci95 = std::hypot(row.inner_ci95, spread95(inner, inner_squares));
        row.outer_ci95 = std::hypot(row.outer_ci95, spread95(outer, outer_squares));
        row.degrees = kManyDegrees; // spread95() already accounts for the number of CPUs
        if (row.hidden)
            row.hidden->outer_alone_ci95.reset(); // it does not include the spread
        row.overtaking = overtaking.most;         // it may be a processor of another kind
        return row;
    }

private:
    double spread95(double sum, double squares) const
    {
        if (rows < 2)
            return 0;
        const double n = double(rows);
        const double variance = std::fmax(squares - sum * sum / n, 0) / (n - 1);
        return student_t95(n - 1) * std::sqrt(variance * (1 + 1 / n));
    }
};

struct Constant {
    double value;
    double ci95;
    double degrees;
    double moved;                 // a bound: its drift between start and end of the session
    std::optional<double> hidden; // extra cost without work to overlap with; also a bound
    // Extra cost if STOP overtakes as much as it can, and START nothing; a bound where it is
    // larger.
    std::optional<double> overtaking;
    double overtaking_ci95 = 0;

    double bound() const
    {
        return moved + std::fmax(std::fabs(hidden.value_or(0)), std::fabs(overtaking.value_or(0)));
    }
};

// What a pair costs right behind another probe, outside of its own slice: outer minus inner without
// work, at the end of the session at which that was less.
struct LeastGap {
    double value;
    double ci95;
    double degrees;
};

struct ProbeConstants {
    Constant inner;
    Constant outer;
    std::optional<LeastGap> least_gap; // if it was measured
};

// Rows indexed by CPU, probe and field: a trace may have any number of them, and each CPU looks up
// its own.
class CalibrationRows
{
public:
    CalibrationRows() = default;
    explicit CalibrationRows(std::vector<CalibrationRow> rows);

    const std::vector<CalibrationRow> &all() const { return rows_; }
    bool empty() const { return rows_.empty(); }
    // The CPU's own row, else the row for any CPU, else the mean over the CPUs with their spread in
    // its interval.
    std::optional<CalibrationRow> find(uint32_t cpu, unsigned probe, unsigned field) const;
    // Whether this particular CPU has any row.
    bool has_cpu(uint32_t cpu) const { return cpus_.contains(cpu); }

private:
    std::vector<CalibrationRow> rows_;
    std::map<std::tuple<uint32_t, unsigned, unsigned>, size_t>
        places_;                                           // first row by CPU, probe, field
    std::map<std::pair<unsigned, unsigned>, RowSum> sums_; // by probe and field, over the CPUs
    std::set<uint32_t> cpus_;
};

// Whether the CPU has its own row at either end, or there is one for any CPU.
bool has_own_row(const CalibrationRows &start, const CalibrationRows &end, uint32_t cpu);
// Whether every existing calibration has measured this particular CPU.
bool is_measured_itself(const CalibrationRows &start, const CalibrationRows &end, uint32_t cpu);
// Both ends combined; none if neither has the probe.
std::optional<ProbeConstants> probe_constants(const CalibrationRows &start,
                                              const CalibrationRows &end, uint32_t cpu,
                                              unsigned probe, unsigned field);
} // namespace nsdump
