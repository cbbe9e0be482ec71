// SPDX-License-Identifier: MIT
// analyse: values -> log-linear histogram; percentiles within 0.8 %, bounded memory.
#include "analyse/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace nsdump
{
namespace
{
// The values of one bucket, taken as spread evenly about their mean, with the spread that they have.
struct Spread {
    double mean;
    double half_width;

    explicit Spread(const Bucket &bucket)
    {
        const double n = static_cast<double>(bucket.count), base = bucket.low < 0 ? bucket.high : bucket.low;
        mean = bucket.sum / n;
        const double distance = mean - base;
        half_width = std::sqrt(3 * std::max(0.0, bucket.squares / n - distance * distance));
    }
    // Of the part between two shares of the values: its mean, its variance, the value at a share.
    double mean_of(double from, double to) const { return mean + half_width * (from + to - 1); }
    double variance_of(double from, double to) const { return half_width * half_width * (to - from) * (to - from) / 3; }
    double at(double share) const { return mean + half_width * (2 * share - 1); }
};
} // namespace

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
    put(side.cells[key - side.first], key, value, count);
}

std::vector<Bucket> Histogram::buckets() const
{
    std::vector<Bucket> buckets;
    for (std::size_t i = negative_.cells.size(); i-- > 0;)
        if (const Cell &cell = negative_.cells[i]; cell.count > 0)
            buckets.push_back(
                {-low_of(negative_.first + i + 1), -low_of(negative_.first + i), cell.count, cell.sum, cell.squares});
    if (zeros_ > 0)
        buckets.push_back({0, 0, zeros_, 0, 0});
    for (std::size_t i = 0; i < positive_.cells.size(); ++i)
        if (const Cell &cell = positive_.cells[i]; cell.count > 0)
            buckets.push_back(
                {low_of(positive_.first + i), low_of(positive_.first + i + 1), cell.count, cell.sum, cell.squares});
    return buckets;
}

TrimmedMean Histogram::trimmed_mean(double share) const
{
    if (total_ == 0)
        return {};
    const double count = static_cast<double>(total_), cut = std::floor(share * count), kept = count - 2 * cut;
    struct Part {
        double count, mean, variance;
    };
    std::vector<Part> parts;
    double before = 0, sum = 0, first = 0, last = 0;
    for (const Bucket &bucket : buckets()) {
        const double n = static_cast<double>(bucket.count);
        const double from = std::max(0.0, cut - before) / n, to = std::min(n, count - cut - before) / n;
        before += n;
        if (from >= to)
            continue;
        const Spread spread(bucket);
        if (parts.empty())
            first = cut > 0 ? spread.at(from) : 0;
        last = cut > 0 ? spread.at(to) : 0;
        parts.push_back({n * (to - from), spread.mean_of(from, to), spread.variance_of(from, to)});
        sum += parts.back().count * parts.back().mean;
    }
    const double winsorised_mean = (sum + cut * (first + last)) / count;
    const auto square = [&](double value) { return (value - winsorised_mean) * (value - winsorised_mean); };
    double squares = cut * (square(first) + square(last));
    for (const Part &part : parts)
        squares += part.count * (square(part.mean) + part.variance);
    const double sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    return {sum / kept, sd * std::sqrt(count) / kept, static_cast<std::uint64_t>(kept)};
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
