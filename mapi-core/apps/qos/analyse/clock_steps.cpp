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

struct Window {
    int64_t time_ns = 0; // of its first sample
    double least_ns = 0; // the least difference; of the other direction, the negated greatest one
};

// Somewhere in the windows from `from_ns` until `to_ns`.
struct Change {
    int64_t from_ns = 0, time_ns = 0, to_ns = 0;
    double change_ns = 0;
};

double sign_of(Direction direction)
{
    return direction == Direction::kForward ? 1 : -1;
}

std::vector<Window> windows_of(const std::vector<ClockSample> &samples,
                               const Directions &directions, Direction direction)
{
    std::vector<Window> windows;
    size_t count = 0;
    for (const ClockSample &sample : samples) {
        if (directions.of_flow[sample.flow] != direction)
            continue;
        const double value = sign_of(direction) * double(sample.difference_ns);
        if (count++ % kWindow == 0)
            windows.push_back({sample.time_ns, value});
        windows.back().least_ns = std::min(windows.back().least_ns, value);
    }
    return windows;
}

// Changes that are far larger than the usual ones, of one direction.
std::vector<Change> jumps_of(const std::vector<Window> &windows, Direction direction)
{
    std::vector<double> sizes;
    for (size_t i = 1; i < windows.size(); ++i)
        sizes.push_back(std::abs(windows[i].least_ns - windows[i - 1].least_ns));
    if (sizes.size() < 3)
        return {};
    std::nth_element(sizes.begin(), sizes.begin() + ptrdiff_t(sizes.size() / 2), sizes.end());
    const double limit = std::max(kLeastStepNs, kStepFactor * sizes[sizes.size() / 2]);
    std::vector<Change> jumps;
    for (size_t i = 1; i < windows.size(); ++i) {
        const double change = windows[i].least_ns - windows[i - 1].least_ns;
        if (std::abs(change) > limit)
            jumps.push_back({windows[i - 1].time_ns, windows[i].time_ns,
                             i + 1 < windows.size() ? windows[i + 1].time_ns : INT64_MAX,
                             sign_of(direction) * change});
    }
    return jumps;
}

// By the windows of the other direction before and behind it; if there are none on one side,
// nothing speaks against it.
bool is_confirmed(const Change &jump, const std::vector<Window> &others, Direction direction)
{
    const auto starts_before = [](const Window &window, int64_t time_ns) {
        return window.time_ns < time_ns;
    };
    const auto first = std::lower_bound(others.begin(), others.end(), jump.from_ns, starts_before),
               behind = std::lower_bound(others.begin(), others.end(), jump.to_ns, starts_before);
    if (first - others.begin() < 2 || behind == others.end())
        return true;
    const double change = sign_of(direction) * (behind->least_ns - (first - 2)->least_ns);
    return std::abs(change - jump.change_ns) < std::abs(jump.change_ns) / 2;
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
    const auto forward = windows_of(samples, directions, Direction::kForward),
               backward = windows_of(samples, directions, Direction::kBackward);
    std::vector<ClockStep> steps;
    for (const Change &jump : jumps_of(forward, Direction::kForward))
        if (!has_both_directions || is_confirmed(jump, backward, Direction::kBackward))
            steps.push_back({exact_time(samples, directions, jump), jump.change_ns});
    if (!has_both_directions)
        for (const Change &jump : jumps_of(backward, Direction::kBackward))
            steps.push_back({exact_time(samples, directions, jump), jump.change_ns});
    // Exact times of steps that are close to each other may be equal, or in another order.
    std::sort(steps.begin(), steps.end(),
              [](const ClockStep &one, const ClockStep &two) { return one.time_ns < two.time_ns; });
    const auto is_same = [](const ClockStep &one, const ClockStep &two) {
        return one.time_ns == two.time_ns;
    };
    steps.erase(std::unique(steps.begin(), steps.end(), is_same), steps.end());
    return steps;
}
} // namespace qos
