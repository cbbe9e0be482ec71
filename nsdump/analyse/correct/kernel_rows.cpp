// SPDX-License-Identifier: MIT
// analyse: the kernel's own calibration, as integer sums -> rows of constants.
#include "analyse/correct/kernel_rows.hpp"

#include <cmath>

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

std::optional<CalibrationRow> row_of(const nslice_kernel_calibration_entry &entry)
{
    const auto probe = probe_of_kind(entry.kind);
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
} // namespace

CalibrationRows kernel_rows(const std::vector<KernelCalibration> &calibrations,
                            nslice_calibration_phase phase)
{
    std::vector<CalibrationRow> rows;
    for (const KernelCalibration &calibration : calibrations)
        for (const nslice_kernel_calibration_entry &entry : calibration.entries)
            if (const auto row = row_of(entry); row && calibration.phase == phase)
                rows.push_back(*row);
    return CalibrationRows(std::move(rows));
}
} // namespace nsdump
