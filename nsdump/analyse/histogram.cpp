// SPDX-License-Identifier: MIT
// analyse: values -> log-linear histogram; percentiles within 0.8 %, bounded memory.
#include "analyse/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace nsdump
{
double Histogram::low_of(std::uint64_t key)
{
    return std::bit_cast<double>(key << kShift);
}

void Histogram::add_slowly(Side &side, std::uint64_t key)
{
    if (key < kZeroKey) {
        ++zeros_;
        return;
    }
    key = std::min(key, kTopKey); // also what is not a number
    // Grown by whole powers of two, so a slice whose times spread slowly does not grow at each new value.
    const std::uint64_t octave = key >> kMantissaBits << kMantissaBits;
    const std::uint64_t octave_keys = 1u << kMantissaBits;
    if (side.counts.empty()) {
        side.first = octave;
        side.counts.resize(octave_keys);
    } else if (octave < side.first) {
        side.counts.insert(side.counts.begin(), side.first - octave, 0);
        side.first = octave;
    } else if (octave + octave_keys > side.first + side.counts.size()) {
        side.counts.resize(octave + octave_keys - side.first);
    }
    ++side.counts[key - side.first];
}

std::vector<Bucket> Histogram::buckets() const
{
    std::vector<Bucket> buckets;
    for (std::size_t i = negative_.counts.size(); i-- > 0;)
        if (negative_.counts[i] > 0)
            buckets.push_back({-low_of(negative_.first + i + 1), -low_of(negative_.first + i), negative_.counts[i]});
    if (zeros_ > 0)
        buckets.push_back({0, 0, zeros_});
    for (std::size_t i = 0; i < positive_.counts.size(); ++i)
        if (positive_.counts[i] > 0)
            buckets.push_back({low_of(positive_.first + i), low_of(positive_.first + i + 1), positive_.counts[i]});
    return buckets;
}

double Histogram::quantile(double share) const
{
    if (total_ == 0)
        return 0;
    const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(total_)));
    double seen = 0;
    double value = 0;
    for (const Bucket &bucket : buckets()) {
        seen += static_cast<double>(bucket.count);
        // Narrow buckets hold one whole number at most, and then it is their lower end.
        value = bucket.high - bucket.low <= 1 && bucket.low == std::floor(bucket.low) && bucket.low >= 1
                    ? bucket.low
                    : (bucket.low + bucket.high) / 2;
        if (seen >= wanted)
            break;
    }
    return value;
}
} // namespace nsdump
