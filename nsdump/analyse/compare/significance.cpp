// SPDX-License-Identifier: MIT
// compare: a difference and its standard error -> how likely it is by chance, alone and among many.
#include "analyse/compare/significance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace nsdump
{
namespace
{
// Even and odd terms of the continued fraction of the incomplete beta function (Abramowitz and
// Stegun, 26.5.8), by the method of Lentz.
double beta_fraction(double a, double b, double x)
{
    constexpr double kTiny = 1e-300, kPrecision = 1e-14;
    constexpr int kMostTerms = 10000; // converges within the root of max(a, b) terms
    const auto nonzero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
    double above = 1, below = 1 / nonzero(1 - (a + b) * x / (a + 1)), product = below;
    for (int term = 1; term < kMostTerms; ++term) {
        const double m = term, doubled = a + 2 * m;
        for (const double factor : {m * (b - m) * x / ((doubled - 1) * doubled),
                                    -(a + m) * (a + b + m) * x / (doubled * (doubled + 1))}) {
            below = 1 / nonzero(1 + factor * below);
            above = nonzero(1 + factor / above);
            product *= below * above;
        }
        if (std::fabs(below * above - 1) < kPrecision)
            break;
    }
    return product;
}

double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const double log_front =
        std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
    // The fraction converges quickly on this side only.
    if (x < (a + 1) / (a + b + 2))
        return std::exp(log_front) * beta_fraction(a, b, x) / a;
    return 1 - std::exp(log_front) * beta_fraction(b, a, 1 - x) / b;
}
} // namespace

double student_p(double t, double degrees)
{
    constexpr double kAsNormal = 1e7; // the difference is below 1e-7
    if (std::isnan(t) || !(degrees > 0))
        return 1;
    if (degrees > kAsNormal)
        return std::erfc(std::fabs(t) / std::sqrt(2.0));
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

std::vector<double> holm_adjusted(const std::vector<double> &p_values)
{
    std::vector<size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t one, size_t other) { return p_values[one] < p_values[other]; });
    std::vector<double> adjusted(p_values.size());
    double largest = 0;
    for (size_t place = 0; place < order.size(); ++place) {
        const double among = double(order.size() - place) * p_values[order[place]];
        largest = std::max(largest, std::min(1.0, among));
        adjusted[order[place]] = largest;
    }
    return adjusted;
}
} // namespace nsdump
