// SPDX-License-Identifier: MIT
// compare: one figure of several runs -> its mean and error; two of these -> their difference.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyse/correct/student.hpp"
#include "analyse/report.hpp"

namespace nsdump
{
// A figure of one run, per packet or per slice: of time the trimmed mean, of counters the mean.
struct Figure {
    double value = 0;
    double half95 = 0; // of the interval within the run
    double degrees = kManyDegrees;
    bool is_per_packet = false;
    bool is_whole = false; // every unit was counted, not a sample of them
    uint64_t count = 0;    // slices
    uint64_t packets = 0;
};

// None without a net value or its interval.  `is_time`: in nanoseconds.
std::optional<Figure> figure_of(const FieldReport &field, const StatsReport &report);

// Whether source step counted all units, so that there is no sampling error.
bool is_every_unit_counted(const FieldReport &field, const StatsReport &report);

// Degrees of freedom of an interval within a run, which a report does not have: those of the
// fewest blocks that so many slices make.
double degrees_of(uint64_t count);

// The mean of a figure over runs of one program.
struct Estimate {
    double value = 0;
    double within_error = 0; // standard error of the mean, from the intervals within the runs
    double within_degrees = kManyDegrees;
    double between_variance = 0; // of single runs; 0 for one run, of which it is unknown
    size_t runs = 0;

    double standard_error() const;
    double degrees() const;
    double half95() const { return student_t95(degrees()) * standard_error(); }
    // Every run has this value, without any error.
    bool is_exact() const { return within_error <= 0 && between_variance <= 0; }
};

// Runs that agree by chance do not make the error smaller than that within them.
Estimate estimate_of(const std::vector<Figure> &runs);

struct Difference {
    double value = 0; // second - first
    double standard_error = 0;
    double degrees = kManyDegrees;
    bool is_exact = false;
    std::optional<double> assumed_spread; // one run on each side: as of difference_of()

    double half95() const { return student_t95(degrees) * standard_error; }
    double p_value() const;
};

// After Welch (1947).  A side with one run has the other's variance between runs; if both have one,
// `run_spread` is assumed as their standard deviation, as a share of the value.
Difference difference_of(const Estimate &first, const Estimate &second, double run_spread);
// Both sides have one run, and every unit of both was counted: what is compared is all that they
// executed.
bool are_whole(const std::vector<Figure> &first, const std::vector<Figure> &second);
} // namespace nsdump
