// SPDX-License-Identifier: MIT
// analyse: slices of a cell -> sums by epoch of their values, clipped to the bounds of a trimmed
// part.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/statistics/histogram.hpp"
#include "analyse/thinning/cells/clusters.hpp"

namespace nsdump
{
// The error of a trimmed mean has to account for slices of one epoch being alike.  How alike they
// are is seen from clipped values, because a few interrupts would hide it in the plain ones.
class ClippedSums
{
public:
    // `share` of the values that is cut off at either end.
    explicit ClippedSums(double share) : share_(share) {}

    // Of the values in `buckets`, which must not be empty.  `step` of the clock.
    void find_bounds(const std::vector<Bucket> &buckets, double step);
    bool is_kept(double raw) const { return raw >= low_ && raw <= high_; }
    void add(double raw, double reference, uint32_t epoch);
    // No epoch may be in both.
    void merge(const ClippedSums &other);
    void drop_clusters() { std::vector<Cluster>().swap(clusters_); }

    double share() const { return share_; }
    double variance(uint64_t count) const;
    // By epoch; values are distances from the reference.
    const std::vector<Cluster> &clusters() const { return clusters_; }

private:
    Cluster &cluster(uint32_t epoch);

    double share_;
    double low_ = 0, high_ = 0;
    double sum_ = 0, squares_ = 0;
    std::vector<Cluster> clusters_;
};

double variance_of(double sum, double squares, uint64_t count);
} // namespace nsdump
