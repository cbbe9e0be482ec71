// SPDX-License-Identifier: MIT
// Batch sums: means of batches -> an entry of the kernel's calibration.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nslice/file.h>

namespace nsbpf
{
constexpr double kCalibrationUnit = 1024; // of a tick

struct Sums {
    uint16_t batches;
    int64_t sum, squares;
};

// As nsmod's: a fifth at either end is left out of the sum; the squares are winsorised.
inline Sums sum_up(std::vector<double> samples)
{
    std::ranges::sort(samples);
    const size_t trimmed = samples.size() / 5, end = samples.size() - trimmed;
    const double sum = std::accumulate(samples.begin() + ptrdiff_t(trimmed),
                                       samples.begin() + ptrdiff_t(end), 0.0);
    for (double &sample : samples)
        sample = std::clamp(sample, samples[trimmed], samples[end - 1]);
    const double mean =
        std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
    double squares = 0;
    for (const double sample : samples)
        squares += (sample - mean) * (sample - mean);
    return {uint16_t(end - trimmed), std::llround(sum), std::llround(squares)};
}

// `means`: of batches, in ticks for each `factor`.
inline Sums sum_up_ticks(const std::vector<double> &means, double factor)
{
    std::vector<double> scaled;
    for (const double mean : means)
        scaled.push_back(mean * factor * kCalibrationUnit);
    return sum_up(std::move(scaled));
}

inline void append_entry(std::string &payload, uint32_t cpu, uint8_t kind, const Sums &inner,
                         const Sums &outer)
{
    nslice_kernel_calibration_entry entry = {};
    entry.cpu = cpu;
    entry.kind = kind;
    entry.batches = outer.batches;
    entry.inner_sum = inner.sum;
    entry.inner_squares = inner.squares;
    entry.outer_sum = outer.sum;
    entry.outer_squares = outer.squares;
    payload.append(reinterpret_cast<const char *>(&entry), sizeof(entry));
}
} // namespace nsbpf
