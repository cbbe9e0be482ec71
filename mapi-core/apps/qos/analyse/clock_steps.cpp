// SPDX-License-Identifier: MIT
// clock_steps: the shortest delays of one window of packets against those of the next.
#include "qos/analyse/clock_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace qos
{
namespace
{
constexpr size_t kWindow = 16;                         // samples whose least delay is compared
constexpr double kLeastStepNs = 1e6, kStepFactor = 20; // of the usual change between windows

struct Change {
    int64_t time_ns = 0;
    double change_ns = 0; // of the least difference, from one window to the next
};

// Changes that are far larger than the usual ones, of one direction.
std::vector<Change> jumps_of(const std::vector<ClockSample> &samples, const Directions &directions,
                             Direction direction)
{
    const double sign = direction == Direction::kForward ? 1 : -1;
    std::vector<Change> windows, jumps;
    std::vector<double> sizes;
    size_t count = 0;
    for (const ClockSample &sample : samples) {
        if (directions.of_flow[sample.flow] != direction)
            continue;
        const double value = sign * double(sample.difference_ns);
        if (count++ % kWindow == 0)
            windows.push_back({sample.time_ns, value});
        windows.back().change_ns = std::min(windows.back().change_ns, value);
    }
    for (size_t i = 1; i < windows.size(); ++i)
        sizes.push_back(std::abs(windows[i].change_ns - windows[i - 1].change_ns));
    if (sizes.size() < 3)
        return {};
    std::nth_element(sizes.begin(), sizes.begin() + ptrdiff_t(sizes.size() / 2), sizes.end());
    const double limit = std::max(kLeastStepNs, kStepFactor * sizes[sizes.size() / 2]);
    for (size_t i = 1; i < windows.size(); ++i) {
        const double change = windows[i].change_ns - windows[i - 1].change_ns;
        if (std::abs(change) > limit)
            jumps.push_back({windows[i].time_ns, sign * change});
    }
    return jumps;
}

// Changes of the other direction are seen up to two of its windows earlier or later.
bool is_confirmed(const Change &jump, const std::vector<Change> &others, int64_t tolerance_ns)
{
    return std::any_of(others.begin(), others.end(), [&](const Change &other) {
        return std::abs(other.time_ns - jump.time_ns) <= tolerance_ns &&
               std::abs(other.change_ns - jump.change_ns) < std::abs(jump.change_ns) / 2;
    });
}

int64_t tolerance_of(const std::vector<ClockSample> &samples, const Directions &directions)
{
    std::array<int64_t, 2> counts{};
    for (const ClockSample &sample : samples)
        ++counts[size_t(directions.of_flow[sample.flow])];
    const int64_t fewest = std::max<int64_t>(1, std::min(counts[0], counts[1]));
    const int64_t span_ns = samples.back().time_ns - samples.front().time_ns;
    return span_ns / fewest * int64_t(2 * kWindow);
}

// The sample after which most differences are nearer to those after the step than to those before.
int64_t exact_time(const std::vector<ClockSample> &samples, const Directions &directions,
                   const Change &jump)
{
    constexpr size_t kAround = 4 * kWindow;
    const auto at = size_t(std::lower_bound(samples.begin(), samples.end(), jump.time_ns,
                                            [](const ClockSample &sample, int64_t time_ns) {
                                                return sample.time_ns < time_ns;
                                            }) -
                           samples.begin());
    const size_t begin = at < kAround ? 0 : at - kAround,
                 end = std::min(samples.size(), at + kAround);
    std::array<double, 2> before{}; // of each direction, the last difference before all this
    for (size_t i = end; i-- > (begin < kAround ? 0 : begin - kAround);)
        if (i <= begin)
            before[size_t(directions.of_flow[samples[i].flow])] = double(samples[i].difference_ns);
    int64_t score = 0, best = INT64_MIN, best_ns = jump.time_ns;
    for (size_t i = begin; i < end; ++i) {
        if (score > best) {
            best = score;
            best_ns = samples[i].time_ns;
        }
        const double change =
            double(samples[i].difference_ns) - before[size_t(directions.of_flow[samples[i].flow])];
        const bool is_after = std::abs(change - jump.change_ns) < std::abs(change);
        score += is_after ? -1 : 1;
    }
    return best_ns;
}
} // namespace

std::vector<ClockStep> find_steps(const std::vector<ClockSample> &samples,
                                  const Directions &directions, bool has_both_directions)
{
    const auto forward = jumps_of(samples, directions, Direction::kForward),
               backward = jumps_of(samples, directions, Direction::kBackward);
    std::vector<ClockStep> steps;
    for (const Change &jump : forward)
        if (!has_both_directions || is_confirmed(jump, backward, tolerance_of(samples, directions)))
            steps.push_back({exact_time(samples, directions, jump), jump.change_ns});
    if (!has_both_directions)
        for (const Change &jump : backward)
            steps.push_back({exact_time(samples, directions, jump), jump.change_ns});
    return steps;
}
} // namespace qos
