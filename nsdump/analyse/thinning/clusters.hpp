// SPDX-License-Identifier: MIT
// analyse: sums by epoch -> a mean with its error; values of one epoch are not independent.
#pragma once

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
} // namespace nsdump
