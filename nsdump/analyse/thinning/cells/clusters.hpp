// SPDX-License-Identifier: MIT
// analyse: sums by epoch -> a mean with its error; values of one epoch are not independent.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nsdump
{
struct Cluster {
    uint32_t epoch;
    double weight; // number of values, or ticks
    double sum;
};

// Sum of values divided by the sum of weights.
struct ClusteredMean {
    size_t clusters = 0;
    double mean = 0;
    double standard_error = 0;
    double degrees = 0;
    double effective = 0; // number of clusters of equal size that would be as good
};

// Ratio estimator.  A cluster with the share w of all weight pulls the mean towards itself, so the
// square of its deviation is too small by the factor 1 - w; for clusters of equal size this is the
// usual J / (J - 1).  `independent`: the standard error if values of a cluster were independent.
//
// Degrees of freedom after Welch and Satterthwaite: large clusters contribute more to the variance,
// namely as w if their values are independent, and as w squared if they are all alike.
inline ClusteredMean clustered_mean(const std::vector<Cluster> &clusters, double independent = 0)
{
    ClusteredMean out;
    out.clusters = clusters.size();
    double weights = 0, sum = 0;
    for (const Cluster &one : clusters) {
        weights += one.weight;
        sum += one.sum;
    }
    if (!(weights > 0))
        return out;
    out.mean = sum / weights;
    double variance = 0, squares = 0;
    for (const Cluster &one : clusters) {
        const double share = one.weight / weights, left = (one.sum - out.mean * one.weight);
        if (share < 1)
            variance += left * left / (1 - share);
        squares += share * share;
    }
    out.standard_error = std::sqrt(variance) / weights;
    out.effective = 1 / squares;
    const double alone =
        out.standard_error > independent ? std::pow(independent / out.standard_error, 2) : 1;
    double fourths = 0;
    for (const Cluster &one : clusters) {
        const double share = one.weight / weights;
        fourths += std::pow(alone * share + (1 - alone) * share * share / squares, 2);
    }
    out.degrees = 1 / fourths - 1;
    return out;
}

inline constexpr size_t kTimeBlocks = 16;

// Load that stays the same over several epochs moves the mean of the whole session, which the
// choice of epochs does not show.  `left`: deviations of all epochs from the means of their cells,
// in the order of time, with weights.  Returns by how much the variance of their mean by blocks of
// neighbours exceeds that by epochs.  A linear drift does not count: it is part of the session.
inline double excess_of_neighbours(const std::vector<Cluster> &left)
{
    constexpr size_t kLeastPerBlock = 4;
    constexpr double kBlocks = double(kTimeBlocks);
    if (left.size() < kTimeBlocks * kLeastPerBlock)
        return 0;
    std::array<double, kTimeBlocks> weights{}, sums{};
    double weight = 0, by_epoch = 0;
    for (size_t i = 0; i < left.size(); ++i) {
        const size_t block = i * kTimeBlocks / left.size();
        weights[block] += left[i].weight;
        sums[block] += left[i].sum;
        weight += left[i].weight;
        by_epoch += left[i].sum * left[i].sum;
    }
    // Weighted: a block whose epochs all scatter much says little about the line.
    double mean = 0, centre = 0, slope = 0, places = 0;
    for (size_t i = 0; i < kTimeBlocks; ++i) {
        mean += sums[i] / weight;
        centre += weights[i] * double(i) / weight;
    }
    for (size_t i = 0; i < kTimeBlocks; ++i) {
        slope += sums[i] * (double(i) - centre);
        places += weights[i] * (double(i) - centre) * (double(i) - centre);
    }
    slope /= places;
    double by_block = 0;
    for (size_t i = 0; i < kTimeBlocks; ++i) {
        const double off = sums[i] / weights[i] - mean - slope * (double(i) - centre);
        by_block += weights[i] * weights[i] * off * off * kBlocks / (kBlocks - 2);
    }
    return std::fmax(0, by_block - by_epoch) / (weight * weight);
}

// The epochs of a cell, and their mean.
struct CellEpochs {
    const ClusteredMean *mean;
    const std::vector<Cluster> *epochs;

    // Of the means of its epochs.
    double variance() const
    {
        return mean->standard_error * mean->standard_error * mean->effective;
    }
};

// Standard error of a cell's mean by load that stays the same over several epochs, from the epochs
// of all cells.  Cells in which many probes are on show it less well: they scatter by what the
// probes cost.  Cells of few epochs are taken to scatter like all.
inline double session_error(const std::vector<CellEpochs> &cells)
{
    constexpr size_t kKnownFrom = 24;
    double sum = 0, degrees = 0;
    for (const CellEpochs &cell : cells)
        if (cell.epochs->size() > 1) {
            sum += double(cell.epochs->size() - 1) * cell.variance();
            degrees += double(cell.epochs->size() - 1);
        }
    if (!(sum > 0))
        return 0;
    std::vector<Cluster> left;
    for (const CellEpochs &cell : cells) {
        if (cell.epochs->size() < 2)
            continue; // the deviation from its own mean is zero
        const bool is_known = cell.epochs->size() >= kKnownFrom && cell.variance() > 0;
        const double variance = is_known ? cell.variance() : sum / degrees;
        for (const Cluster &one : *cell.epochs)
            left.push_back({one.epoch, one.weight / variance,
                            (one.sum - cell.mean->mean * one.weight) / variance});
    }
    std::sort(left.begin(), left.end(),
              [](const Cluster &a, const Cluster &b) { return a.epoch < b.epoch; });
    return std::sqrt(excess_of_neighbours(left));
}
} // namespace nsdump
