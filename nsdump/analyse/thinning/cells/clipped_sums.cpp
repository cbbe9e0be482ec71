// SPDX-License-Identifier: MIT
// analyse: slices of a cell -> sums by epoch of their values, clipped to the bounds of a trimmed
// part.
#include "analyse/thinning/cells/clipped_sums.hpp"

#include <algorithm>

namespace nsdump
{
double variance_of(double sum, double squares, uint64_t count)
{
    const double n = double(count);
    return count > 1 ? std::max(0.0, squares - sum * sum / n) / (n - 1) : 0;
}

// The buckets at both ends belong to the trimmed part's neighbours as a whole: a constant duration
// has only one bucket.
void ClippedSums::find_bounds(const std::vector<Bucket> &buckets, double step)
{
    double total = 0;
    for (const Bucket &bucket : buckets)
        total += double(bucket.count);
    const double cut = share_ * total;
    double seen = 0;
    low_ = buckets.front().low;
    high_ = buckets.back().high;
    for (const Bucket &bucket : buckets) {
        if (seen <= cut)
            low_ = bucket.low;
        seen += double(bucket.count);
        if (seen >= total - cut) {
            high_ = bucket.high;
            break;
        }
    }
    if (step >= kLeastStep) { // as in the trimmed mean
        low_ -= step + 1;
        high_ += step + 1;
    }
}

Cluster &ClippedSums::cluster(uint32_t epoch)
{
    if (!clusters_.empty() && clusters_.back().epoch == epoch)
        return clusters_.back();
    // Threads are read in turns, so an earlier epoch may come back.
    const auto place =
        std::lower_bound(clusters_.begin(), clusters_.end(), epoch,
                         [](const Cluster &one, uint32_t at) { return one.epoch < at; });
    if (place != clusters_.end() && place->epoch == epoch)
        return *place;
    return *clusters_.insert(place, {epoch, 0, 0});
}

void ClippedSums::add(double raw, double reference, uint32_t epoch)
{
    const double clipped = std::clamp(raw, low_, high_) - reference;
    sum_ += clipped;
    squares_ += clipped * clipped;
    Cluster &of_epoch = cluster(epoch);
    of_epoch.weight += 1;
    of_epoch.sum += clipped;
}

void ClippedSums::merge(const ClippedSums &other)
{
    sum_ += other.sum_;
    squares_ += other.squares_;
    clusters_.insert(clusters_.end(), other.clusters_.begin(), other.clusters_.end());
}

double ClippedSums::variance(uint64_t count) const
{
    return variance_of(sum_, squares_, count);
}
} // namespace nsdump
