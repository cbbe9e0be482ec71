// SPDX-License-Identifier: MIT
// analyse: values -> log-linear histogram; percentiles within 0.8 %, bounded memory.
#include "analyse/statistics/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace nsdump
{
namespace
{
// Models the values of one bucket as evenly spread about their mean, with their actual variance.
struct Spread {
    double mean;
    double half_width;

    explicit Spread(const Bucket &bucket)
    {
        const double n = double(bucket.count), base = bucket.low < 0 ? bucket.high : bucket.low;
        mean = bucket.sum / n;
        const double distance = mean - base;
        half_width = std::sqrt(3 * std::max(0.0, bucket.squares / n - distance * distance));
    }
    // Mean and variance of the part between two shares of the values, and the value at a share.
    double mean_of(double from, double to) const { return mean + half_width * (from + to - 1); }
    double variance_of(double from, double to) const
    {
        return half_width * half_width * (to - from) * (to - from) / 3;
    }
    double at(double share) const { return mean + half_width * (2 * share - 1); }
    // Share of the values below.
    double below(double value) const
    {
        if (half_width == 0)
            return value > mean ? 1 : 0;
        return std::clamp(0.5 * (1 + (value - mean) / half_width), 0.0, 1.0);
    }
};

uint64_t total_of(std::span<const Bucket> buckets)
{
    return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0},
                           [](uint64_t sum, const Bucket &bucket) { return sum + bucket.count; });
}
} // namespace

void Histogram::add_slowly(Side &side, uint64_t key, double value, uint64_t count)
{
    if (key < kZeroKey) {
        zeros_ += count;
        return;
    }
    key = std::min(key, kTopKey); // also NaN
    put(part_at(side, key >> kPartBits)[key % kPartCells], key, value, count);
}

Histogram::Part &Histogram::part_at(Side &side, uint64_t place)
{
    if (side.parts.empty())
        side.first = place;
    if (place < side.first) {
        std::vector<std::unique_ptr<Part>> wider(side.first - place);
        std::move(side.parts.begin(), side.parts.end(), std::back_inserter(wider));
        side.parts = std::move(wider);
        side.first = place;
    }
    if (place - side.first >= side.parts.size())
        side.parts.resize(place - side.first + 1);
    auto &part = side.parts[place - side.first];
    if (!part) {
        part = std::make_unique<Part>();
        ++parts_;
    }
    return *part;
}

void Histogram::merge(Side &side, const Side &other)
{
    for (size_t i = 0; i < other.parts.size(); ++i) {
        if (!other.parts[i])
            continue;
        Part &part = part_at(side, other.first + i);
        for (size_t j = 0; j < kPartCells; ++j) {
            const Cell &more = (*other.parts[i])[j];
            part[j].count += more.count;
            part[j].sum += more.sum;
            part[j].squares += more.squares;
        }
    }
}

void Histogram::merge(const Histogram &other)
{
    merge(positive_, other.positive_);
    merge(negative_, other.negative_);
    zeros_ += other.zeros_;
    total_ += other.total_;
}

// By ascending distance from zero.
void Histogram::add_buckets(const Side &side, std::vector<Bucket> &out)
{
    for (size_t i = 0; i < side.parts.size(); ++i)
        for (size_t j = 0; side.parts[i] && j < kPartCells; ++j)
            if (const Cell &cell = (*side.parts[i])[j]; cell.count > 0) {
                const uint64_t key = (side.first + i) * kPartCells + j;
                out.push_back({low_of(key), low_of(key + 1), cell.count, cell.sum, cell.squares});
            }
}

std::vector<Bucket> Histogram::buckets() const
{
    std::vector<Bucket> buckets;
    add_buckets(negative_, buckets);
    std::reverse(buckets.begin(), buckets.end());
    for (Bucket &bucket : buckets)
        bucket = {-bucket.high, -bucket.low, bucket.count, bucket.sum, bucket.squares};
    if (zeros_ > 0)
        buckets.push_back({0, 0, zeros_, 0, 0});
    add_buckets(positive_, buckets);
    return buckets;
}

namespace
{
// Number of values below.
double count_below(std::span<const Bucket> buckets, double value)
{
    double count = 0;
    for (const Bucket &bucket : buckets)
        count += double(bucket.count) * Spread(bucket).below(value);
    return count;
}

// The value that `count` values lie below.
double value_at(std::span<const Bucket> buckets, double count)
{
    for (const Bucket &bucket : buckets) {
        if (count <= double(bucket.count))
            return Spread(bucket).at(count / double(bucket.count));
        count -= double(bucket.count);
    }
    return buckets.back().high;
}
} // namespace

TrimmedMean trimmed_mean_of(std::span<const Bucket> buckets, double share, double step)
{
    const uint64_t total = total_of(buckets);
    if (total == 0)
        return {};
    const double count = double(total);
    double low = std::floor(share * count), high = low; // numbers of values that are cut off
    if (step >= kLeastStep && low > 0) {
        const double reach = step + 1; // steps of a fraction of a tick are rounded
        const double lowest = value_at(buckets, low) - reach,
                     highest = value_at(buckets, count - high) + reach;
        low = std::min(low, std::floor(count_below(buckets, lowest)));
        high = std::min(high, std::floor(count - count_below(buckets, highest)));
    }
    const double kept = count - low - high;
    struct Part {
        double count, mean, variance;
    };
    std::vector<Part> parts;
    parts.reserve(buckets.size());
    double before = 0, sum = 0, first = 0, last = 0;
    for (const Bucket &bucket : buckets) {
        const double n = double(bucket.count);
        const double from = std::max(0.0, low - before) / n,
                     to = std::min(n, count - high - before) / n;
        before += n;
        if (from >= to)
            continue;
        const Spread spread(bucket);
        if (parts.empty())
            first = low > 0 ? spread.at(from) : 0;
        last = high > 0 ? spread.at(to) : 0;
        parts.push_back({n * (to - from), spread.mean_of(from, to), spread.variance_of(from, to)});
        sum += parts.back().count * parts.back().mean;
    }
    const double winsorised_mean = (sum + low * first + high * last) / count;
    const auto square = [&](double value) {
        return (value - winsorised_mean) * (value - winsorised_mean);
    };
    double squares = low * square(first) + high * square(last);
    for (const Part &part : parts)
        squares += part.count * (square(part.mean) + part.variance);
    const double sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    return {sum / kept, sd * std::sqrt(count) / kept, uint64_t(kept),
            step * std::max(low, high) / kept};
}

void find_quantiles(std::span<const Bucket> buckets, std::span<const double> shares,
                    std::span<double> values)
{
    const double total = double(total_of(buckets));
    const auto wanted = [&](size_t i) { return std::max(1.0, std::ceil(shares[i] * total)); };
    double seen = 0;
    size_t next = 0;
    for (const Bucket &bucket : buckets) {
        seen += double(bucket.count);
        // A narrow bucket holds at most one integer, which is then its lower end.
        const double value =
            bucket.high - bucket.low <= 1 && bucket.low == std::floor(bucket.low) && bucket.low >= 1
                ? bucket.low
                : (bucket.low + bucket.high) / 2;
        while (next < shares.size() && seen >= wanted(next))
            values[next++] = value;
        std::fill(values.begin() + ptrdiff_t(next), values.end(), value);
    }
}
} // namespace nsdump
