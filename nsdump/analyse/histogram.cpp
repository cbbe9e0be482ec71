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

void Histogram::add_slowly(Side &side, std::uint64_t key, double value, std::uint64_t count)
{
    if (key < kZeroKey) {
        zeros_ += count;
        return;
    }
    key = std::min(key, kTopKey); // also what is not a number
    // Grown by whole powers of two, so a slice whose times spread slowly does not grow at each new value.
    const std::uint64_t octave = key >> kMantissaBits << kMantissaBits;
    const std::uint64_t octave_keys = 1u << kMantissaBits;
    if (side.cells.empty()) {
        side.first = octave;
        side.cells.resize(octave_keys);
    } else if (octave < side.first) {
        side.cells.insert(side.cells.begin(), side.first - octave, {});
        side.first = octave;
    } else if (octave + octave_keys > side.first + side.cells.size()) {
        side.cells.resize(octave + octave_keys - side.first);
    }
    side.cells[key - side.first].count += count;
    side.cells[key - side.first].sum += static_cast<double>(count) * value;
}

std::vector<Bucket> Histogram::buckets() const
{
    std::vector<Bucket> buckets;
    for (std::size_t i = negative_.cells.size(); i-- > 0;)
        if (const Cell &cell = negative_.cells[i]; cell.count > 0)
            buckets.push_back(
                {-low_of(negative_.first + i + 1), -low_of(negative_.first + i), cell.count, cell.sum});
    if (zeros_ > 0)
        buckets.push_back({0, 0, zeros_, 0});
    for (std::size_t i = 0; i < positive_.cells.size(); ++i)
        if (const Cell &cell = positive_.cells[i]; cell.count > 0)
            buckets.push_back({low_of(positive_.first + i), low_of(positive_.first + i + 1), cell.count, cell.sum});
    return buckets;
}

TrimmedMean Histogram::trimmed_mean(double share) const
{
    const double count = static_cast<double>(total_), cut = std::floor(share * count), kept = count - 2 * cut;
    if (total_ == 0)
        return {};
    double before = 0, sum = 0, first = 0, last = 0, squares = 0;
    const std::vector<Bucket> all = buckets();
    const auto kept_of = [&](const Bucket &bucket) { // how many of a bucket's values lie between the cuts
        const double from = std::max(before, cut), to = std::min(before + static_cast<double>(bucket.count), count - cut);
        return std::max(0.0, to - from);
    };
    for (const Bucket &bucket : all) {
        const double mean = bucket.sum / static_cast<double>(bucket.count), inside = kept_of(bucket);
        if (inside > 0 && before <= cut)
            first = mean;
        if (inside > 0)
            last = mean;
        sum += inside * mean;
        before += static_cast<double>(bucket.count);
    }
    const double winsorised_mean = (sum + cut * (first + last)) / count;
    before = 0;
    for (const Bucket &bucket : all) {
        const double distance = bucket.sum / static_cast<double>(bucket.count) - winsorised_mean;
        squares += kept_of(bucket) * distance * distance;
        before += static_cast<double>(bucket.count);
    }
    squares += cut * ((first - winsorised_mean) * (first - winsorised_mean) + (last - winsorised_mean) * (last - winsorised_mean));
    const double sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    return {sum / kept, sd * std::sqrt(count) / kept};
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
