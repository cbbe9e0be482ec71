// SPDX-License-Identifier: MIT
// reference_clock: in the order of a clock that steps back, differences go up and down between two
// values; in that of the other one they change once.  A step without packets of equal times is in
// the clock by which the packets take longer.
#include "qos/analyse/reference_clock.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "qos/analyse/median.hpp"

namespace qos
{
namespace
{
constexpr double kLeastJumpNs = 1e6, kJumpFactor = 20; // of the usual change
constexpr ptrdiff_t kFew = 3;                          // jumps that one order may have more

// From each packet of a flow to its next one.
std::vector<double> changes_of(const std::vector<ClockSample> &samples)
{
    std::unordered_map<uint32_t, int64_t> last;
    std::vector<double> changes;
    for (const ClockSample &sample : samples) {
        const auto [known, is_new] = last.try_emplace(sample.flow, sample.difference_ns);
        if (!is_new)
            changes.push_back(std::abs(double(sample.difference_ns) - double(known->second)));
        known->second = sample.difference_ns;
    }
    return changes;
}

double span_of(const std::vector<ClockSample> &samples)
{
    return double(samples.back().time_ns) - double(samples.front().time_ns);
}

ptrdiff_t count_above(const std::vector<double> &values, double limit)
{
    return std::count_if(values.begin(), values.end(),
                         [limit](double value) { return value > limit; });
}
} // namespace

bool is_second_steadier(const std::vector<ClockSample> &samples, const ClockModel &by_first)
{
    const std::vector<double> first = changes_of(samples);
    if (by_first.is_synchronised || first.empty())
        return false;
    std::vector<ClockSample> by_second;
    for (const ClockSample &sample : samples)
        by_second.push_back(
            {sample.time_ns + sample.difference_ns, sample.difference_ns, 0, sample.flow});
    std::stable_sort(
        by_second.begin(), by_second.end(),
        [](const ClockSample &a, const ClockSample &b) { return a.time_ns < b.time_ns; });
    const std::vector<double> second = changes_of(by_second);
    const double limit =
        std::max(kLeastJumpNs, kJumpFactor * std::min(median_of(first), median_of(second)));
    const ptrdiff_t more = count_above(first, limit) - count_above(second, limit);
    if (std::abs(more) > kFew || !by_first.has_both_directions || by_first.steps.empty())
        return more > kFew;
    const auto largest = std::max_element(by_first.steps.begin(), by_first.steps.end(),
                                          [](const ClockStep &one, const ClockStep &two) {
                                              return std::abs(one.step_ns) < std::abs(two.step_ns);
                                          });
    return span_of(samples) > span_of(by_second) + std::abs(largest->step_ns) / 2;
}
} // namespace qos
