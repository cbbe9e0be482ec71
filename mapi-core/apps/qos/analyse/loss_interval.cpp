// SPDX-License-Identifier: MIT
// loss_interval: Wilson's interval for a sample of a finite population.
#include "qos/analyse/loss_interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace qos
{
namespace
{
constexpr double kNormal95 = 1.959963984540054;
} // namespace

Interval loss_interval(uint64_t sent, uint64_t lost, double rate)
{
    if (sent == 0)
        return {0, 1};
    const double share = double(lost) / double(sent);
    if (rate >= 1)
        return {share, share};
    // n (N - 1) / (N - n), with n / rate for the unknown number N of all packets
    const double count = (double(sent) - rate) / (1 - rate);
    const double square = kNormal95 * kNormal95;
    const double centre = (share + square / (2 * count)) / (1 + square / count);
    const double half = kNormal95 / (1 + square / count) *
                        std::sqrt(share * (1 - share) / count + square / (4 * count * count));
    return {std::clamp(centre - half, 0.0, share), std::clamp(centre + half, share, 1.0)};
}

double student_95(uint64_t count)
{
    // For 1 to 10 degrees of freedom; then the expansion by Cornish and Fisher is exact enough.
    constexpr std::array kFew = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                 2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    const uint64_t freedom = count < 2 ? 1 : count - 1;
    if (freedom <= kFew.size())
        return kFew[freedom - 1];
    const double z = kNormal95, n = double(freedom);
    return z + (std::pow(z, 3) + z) / (4 * n) +
           (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n) +
           (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) /
               (384 * n * n * n);
}
} // namespace qos
