// SPDX-License-Identifier: MIT
// analyse: values -> log-linear histogram; percentiles within 0.8 %, bounded memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nsdump
{
struct Bucket {
    double low;
    double high;
    uint64_t count;
    double sum;     // of the values in it; exact, unlike low and high
    double squares; // sum of the squared distances from the end nearer to zero
};

// Mean after a share of the values is cut off at either end, and the standard error of that mean.
struct TrimmedMean {
    double mean = 0;
    double standard_error = 0;
    uint64_t kept = 0;
    // Which readings are cut off depends on how they were rounded to the clock's steps, which
    // biases the mean by no more than this: a step for each value cut off at one end.
    double rounding_bound = 0;
};

// `buckets` from Histogram::buckets(); `shares` must be ascending; `values` must have the same
// size.
void find_quantiles(std::span<const Bucket> buckets, std::span<const double> shares,
                    std::span<double> values);
template <size_t kCount>
std::array<double, kCount> quantiles_of(std::span<const Bucket> buckets,
                                        const std::array<double, kCount> &shares)
{
    std::array<double, kCount> values{};
    find_quantiles(buckets, shares, values);
    return values;
}
// Counters and precise clocks have smaller steps.
inline constexpr double kLeastStep = 2;

// `share` of the values is cut off at either end, below 0.5, but for values that lie less than a
// `step` beyond the rest: a clock that moves in steps reads one duration as either of two values,
// and without the rarer one the mean would be wrong.  The error follows from the winsorised
// variance (Tukey and McLaughlin, 1963).
TrimmedMean trimmed_mean_of(std::span<const Bucket> buckets, double share, double step);

// A double is already log-linear: its exponent and the top bits of its mantissa select the bucket.
// There are 64 buckets for each power of two and either sign.  Integers below 128 have their own
// bucket; values below 1/1024 count as zero.
class Histogram
{
public:
    // Adds a value that occurred `count` times.
    void add(double value, uint64_t count = 1)
    {
        const uint64_t key = (std::bit_cast<uint64_t>(value) & ~kSign) >> kShift;
        Side &side = value < 0 ? negative_ : positive_;
        const uint64_t place = (key >> kPartBits) - side.first;
        if (place < side.parts.size() && side.parts[place]) [[likely]] {
            put((*side.parts[place])[key % kPartCells], key, value, count);
        } else {
            add_slowly(side, key, value, count);
        }
        total_ += count;
    }

    // Adds the values of `other`.
    void merge(const Histogram &other);
    // Heap memory in use.
    size_t bytes() const
    {
        return parts_ * sizeof(Part) + (positive_.parts.capacity() + negative_.parts.capacity()) *
                                           sizeof(positive_.parts[0]);
    }
    uint64_t total() const { return total_; }
    // The value below which `share` (0 to 1) of the values lie; 0 if there are none.
    double quantile(double share) const { return quantiles(std::array{share})[0]; }
    template <size_t kCount>
    std::array<double, kCount> quantiles(const std::array<double, kCount> &shares) const
    {
        return quantiles_of(buckets(), shares);
    }
    TrimmedMean trimmed_mean(double share, double step) const
    {
        return trimmed_mean_of(buckets(), share, step);
    }
    // Non-empty buckets, by ascending value.
    std::vector<Bucket> buckets() const;

private:
    static constexpr uint64_t kSign = uint64_t{1} << 63;
    static constexpr unsigned kMantissaBits = 6;
    static constexpr unsigned kShift = 52 - kMantissaBits;
    static constexpr uint64_t kZeroKey = uint64_t{1023 - 10} << kMantissaBits; // 2^-10
    static constexpr uint64_t kTopKey = (uint64_t{1023 + 65} << kMantissaBits) - 1;

    struct Cell {
        uint64_t count = 0;
        double sum = 0;
        double squares = 0;
    };
    static constexpr unsigned kPartBits =
        3; // an eighth of a power of two, since most names have few values
    static constexpr size_t kPartCells = 1u << kPartBits;
    using Part = std::array<Cell, kPartCells>;
    struct Side {
        uint64_t first = 0;                       // key of parts[0], without its last bits
        std::vector<std::unique_ptr<Part>> parts; // null if empty: values may be far apart
    };
    static void add_buckets(const Side &side, std::vector<Bucket> &out);
    void add_slowly(Side &side, uint64_t key, double value, uint64_t count);
    Part &part_at(Side &side, uint64_t place); // made if it is not there
    void merge(Side &side, const Side &other);
    static double low_of(uint64_t key) { return std::bit_cast<double>(key << kShift); }
    static void put(Cell &cell, uint64_t key, double value, uint64_t count)
    {
        const double n = double(count), distance = (value < 0 ? -value : value) - low_of(key);
        cell.count += count;
        cell.sum += n * value;
        cell.squares += n * distance * distance;
    }

    Side positive_;
    Side negative_;
    size_t parts_ = 0; // of both sides
    uint64_t zeros_ = 0;
    uint64_t total_ = 0;
};
} // namespace nsdump
