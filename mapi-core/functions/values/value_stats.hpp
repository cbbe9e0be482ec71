// SPDX-License-Identifier: MIT
// Value statistics: values one by one -> count, sums, extremes.
#pragma once

#include <algorithm>
#include <cstdint>

#include <mapi/results.h>

namespace mapi::functions
{
// Sums are integers as long as they fit: mean and deviation of a day's packets have no rounding
// error.
class ValueStats
{
public:
    // Takes the same value `times` times, at least once.
    void take(uint64_t value, uint64_t times = 1)
    {
        const Wide square = Wide(value) * value;
        min_ = count_ ? std::min(min_, value) : value;
        max_ = std::max(max_, value);
        count_ += times;
        sum_ += Wide(value) * times;
        if (value <= UINT32_MAX)
            squares_ += square * times;
        else
            great_squares_ += static_cast<long double>(square) * static_cast<long double>(times);
    }

    void write(mapi_value_stats_t &to) const
    {
        to.count = count_;
        to.sum = static_cast<long double>(sum_);
        to.sum2 = static_cast<long double>(squares_) + great_squares_;
        to.min = double(min_);
        to.max = double(max_);
        to.exact_min = min_;
        to.exact_max = max_;
    }

private:
    __extension__ typedef unsigned __int128 Wide;

    uint64_t count_ = 0;
    uint64_t min_ = 0;
    uint64_t max_ = 0;
    Wide sum_ = 0;
    Wide squares_ = 0; // of values below 2^32
    long double great_squares_ = 0;
};
} // namespace mapi::functions
