// SPDX-License-Identifier: MIT
// median: the numbers of values below the median are binomial, which gives the interval.
#include "memory/median.hpp"

#include <algorithm>
#include <cmath>

namespace calibrate
{
namespace
{
// The largest rank from either end, from 0, with P(fewer values than that below the median) at
// most 2.5 %.
size_t rank_of_interval(size_t count)
{
    constexpr double kTail = 0.025;
    double below = std::pow(0.5, double(count)), sum = below;
    size_t rank = 0;
    while (rank + 1 < count && sum <= kTail) {
        ++rank;
        below *= double(count - rank + 1) / double(rank);
        sum += below;
    }
    return rank > 0 ? rank - 1 : 0;
}
} // namespace

Median median_of(std::vector<double> values)
{
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    const size_t count = values.size();
    const size_t rank = rank_of_interval(std::min<size_t>(count, 1000));
    return {(values[(count - 1) / 2] + values[count / 2]) / 2, values[rank],
            values[count - 1 - rank], count};
}

Median median_of_passes(const std::vector<std::vector<double>> &passes)
{
    std::vector<double> all;
    for (const auto &pass : passes)
        all.insert(all.end(), pass.begin(), pass.end());
    Median whole = median_of(std::move(all));
    for (const auto &pass : passes) {
        if (pass.empty())
            continue;
        const double one = median_of(pass).value;
        whole.low = std::min(whole.low, one);
        whole.high = std::max(whole.high, one);
    }
    return whole;
}
} // namespace calibrate
