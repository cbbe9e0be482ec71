// SPDX-License-Identifier: MIT
// clock_steps: the shortest delays of one window of packets against those of the next.
#include "qos/analyse/clock_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "qos/analyse/median.hpp"

namespace qos
{
namespace
{
constexpr size_t kWindow = 16;                         // samples whose least delay is compared
constexpr double kLeastStepNs = 1e6, kStepFactor = 20; // of the usual change between windows

struct Window {
    int64_t time_ns = 0; // of its first sample
    double least_ns = 0; // the least difference; of the other direction, the negated greatest one
    int64_t least_time_ns = 0;
};

// Somewhere in the windows from `from_ns` until `to_ns`.
struct Change {
    int64_t from_ns = 0, time_ns = 0, to_ns = 0;
    int64_t after_ns = 0; // of a packet behind it
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
            windows.push_back({sample.time_ns, value, sample.time_ns});
        if (value < windows.back().least_ns) {
            windows.back().least_ns = value;
            windows.back().least_time_ns = sample.time_ns;
        }
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
    const double limit = std::max(kLeastStepNs, kStepFactor * median_of(std::move(sizes)));
    std::vector<Change> jumps;
    for (size_t i = 1; i < windows.size(); ++i) {
        const double change = windows[i].least_ns - windows[i - 1].least_ns;
        if (std::abs(change) > limit)
            jumps.push_back({windows[i - 1].time_ns, windows[i].time_ns,
                             i + 1 < windows.size() ? windows[i + 1].time_ns : INT64_MAX,
                             windows[i].least_time_ns, sign_of(direction) * change});
    }
    return jumps;
}

// The least difference from `from_ns` on, or of the last packets.
std::optional<double> least_from(const std::vector<ClockSample> &samples,
                                 const Directions &directions, Direction direction, int64_t from_ns)
{
    constexpr ptrdiff_t kMost = 64 * kWindow; // of packets that are looked at
    std::optional<double> least;
    const auto end = samples.rbegin() + std::min(kMost, std::ssize(samples));
    for (auto sample = samples.rbegin(); sample != end && sample->time_ns >= from_ns; ++sample) {
        const double value = sign_of(direction) * double(sample->difference_ns);
        if (directions.of_flow[sample->flow] == direction)
            least = least ? std::min(*least, value) : value;
    }
    return least;
}

// By the windows of the other direction before and behind it, or at the end by its last packets;
// nullopt: there are none on one side.
std::optional<bool> is_confirmed(const Change &jump, const std::vector<ClockSample> &samples,
                                 const Directions &directions, const std::vector<Window> &others,
                                 Direction direction)
{
    const auto starts_before = [](const Window &window, int64_t time_ns) {
        return window.time_ns < time_ns;
    };
    const auto first = std::lower_bound(others.begin(), others.end(), jump.from_ns, starts_before),
               behind = std::lower_bound(others.begin(), others.end(), jump.to_ns, starts_before);
    if (first - others.begin() < 2)
        return std::nullopt;
    const auto least = behind != others.end()
                           ? std::optional(behind->least_ns)
                           : least_from(samples, directions, direction, jump.after_ns);
    if (!least)
        return std::nullopt;
    const double change = sign_of(direction) * (*least - (first - 2)->least_ns);
    return std::abs(change - jump.change_ns) < std::abs(jump.change_ns) / 2;
}

// The sample after which most differences are nearer to those after the step than to those before.
int64_t exact_time(const std::vector<ClockSample> &samples, const Directions &directions,
                   const Change &jump)
{
    constexpr ptrdiff_t kAround = 4 * kWindow, kBefore = 64 * kWindow;
    const auto place_of = [&](int64_t time_ns) {
        return std::lower_bound(
                   samples.begin(), samples.end(), time_ns,
                   [](const ClockSample &sample, int64_t ns) { return sample.time_ns < ns; }) -
               samples.begin();
    };
    const ptrdiff_t begin = std::max<ptrdiff_t>(0, place_of(jump.from_ns) - kAround),
                    end = std::min(std::ssize(samples), place_of(jump.to_ns) + kAround);
    // Of each direction, the last difference before all this, or the first one of it.
    std::array<std::optional<double>, 2> before;
    for (ptrdiff_t i = std::max<ptrdiff_t>(0, begin - kBefore); i < end; ++i) {
        const ClockSample &sample = samples[size_t(i)];
        auto &value = before[size_t(directions.of_flow[sample.flow])];
        if (i <= begin || !value)
            value = double(sample.difference_ns);
    }
    int64_t score = 0, best = INT64_MIN, best_ns = jump.time_ns;
    for (ptrdiff_t i = begin; i < end; ++i) {
        const ClockSample &sample = samples[size_t(i)];
        if (score > best) {
            best = score;
            best_ns = sample.time_ns;
        }
        const double change =
            double(sample.difference_ns) - *before[size_t(directions.of_flow[sample.flow])];
        const bool is_after = std::abs(change - jump.change_ns) < std::abs(change);
        score += is_after ? -1 : 1;
    }
    return best_ns;
}

// A step as one of the directions shows it.
struct Found {
    ClockStep step;
    Change jump;

    bool is_same(const Found &other) const
    {
        const bool is_one_time = jump.from_ns < other.jump.to_ns && other.jump.from_ns < jump.to_ns;
        const bool is_one_size =
            std::abs(step.step_ns - other.step.step_ns) < std::abs(step.step_ns) / 2;
        return step.time_ns == other.step.time_ns || (is_one_time && is_one_size);
    }
};
} // namespace

std::vector<ClockStep> find_steps(const std::vector<ClockSample> &samples,
                                  const Directions &directions, StepEvidence evidence)
{
    const std::array<std::vector<Window>, 2> windows = {
        windows_of(samples, directions, Direction::kForward),
        windows_of(samples, directions, Direction::kBackward)};
    // A step lowers the differences of one direction, which a single packet shows.
    std::vector<Found> found;
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
        const Direction other =
            direction == Direction::kForward ? Direction::kBackward : Direction::kForward;
        for (const Change &jump : jumps_of(windows[size_t(direction)], direction))
            if (evidence == StepEvidence::kOneDirection ||
                is_confirmed(jump, samples, directions, windows[size_t(other)], other)
                    .value_or(evidence == StepEvidence::kNothingAgainst))
                found.push_back({{exact_time(samples, directions, jump), jump.change_ns}, jump});
    }
    // Exact times of steps that are close to each other may be equal, or in another order.
    std::stable_sort(found.begin(), found.end(), [](const Found &one, const Found &two) {
        return one.step.time_ns < two.step.time_ns;
    });
    std::vector<ClockStep> steps;
    for (size_t i = 0; i < found.size(); ++i)
        if (i == 0 || !found[i].is_same(found[i - 1]))
            steps.push_back(found[i].step);
    return steps;
}
} // namespace qos
