// SPDX-License-Identifier: MIT
// analyse: values -> sum, mean, standard deviation, minimum, maximum; constant memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace nsdump
{
// Welford's method.
class Moments
{
public:
    // Adds a value that occurred `count` times; `total`: number of values including these.
    void add(double value, uint64_t count, uint64_t total)
    {
        const double n = double(count);
        const double delta = value - mean_;
        mean_ += delta * n / double(total);
        squares_ += n * delta * (value - mean_);
        sum_ += n * value;
        min_ = value < min_ ? value : min_;
        max_ = value > max_ ? value : max_;
    }

    // Adds values that were summed elsewhere, as distances from `first` and squares of the
    // distances.  min() and max() do not include them.
    void merge(double first, double distances, double distance_squares, uint64_t count,
               uint64_t total)
    {
        const double n = double(count), all = double(total);
        const double mean = first + distances / n, delta = mean - mean_;
        mean_ += delta * n / all;
        squares_ +=
            distance_squares - distances * distances / n + delta * delta * n * (all - n) / all;
        sum_ += n * first + distances;
    }

    // Adds those of `other`, of `count` values; `total`: number of values including these.
    void merge(const Moments &other, uint64_t count, uint64_t total)
    {
        if (count == 0)
            return;
        const double n = double(count), all = double(total);
        const double delta = other.mean_ - mean_;
        mean_ += delta * n / all;
        squares_ += other.squares_ + delta * delta * n * (all - n) / all;
        sum_ += other.sum_;
        min_ = other.min_ < min_ ? other.min_ : min_;
        max_ = other.max_ > max_ ? other.max_ : max_;
    }

    double sum() const { return sum_; }
    // Computed from the sum, so it is exact for integers such as counters.
    double mean(uint64_t count) const { return count > 0 ? sum_ / double(count) : 0; }
    double sd(uint64_t count) const
    {
        return count > 1 && squares_ > 0 ? std::sqrt(squares_ / double(count - 1)) : 0;
    }
    double min() const { return min_; }
    double max() const { return max_; }

private:
    double mean_ = 0;
    double squares_ = 0;
    double sum_ = 0;
    double min_ = std::numeric_limits<double>::infinity();
    double max_ = -std::numeric_limits<double>::infinity();
};
} // namespace nsdump
