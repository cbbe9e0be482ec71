// SPDX-License-Identifier: MIT
// clock: the line below the differences of one direction, and above those of the other, between
// steps of the clocks.
#include "qos/analyse/clock.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "qos/analyse/clock_steps.hpp"

namespace qos
{
namespace
{
constexpr size_t kDriftSamples = 20; // fewer, or in less time, show no drift
constexpr int64_t kDriftNs = 5000000000;

struct Dot {
    double time_ns = 0;
    double value_ns = 0;
};
using Dots = std::vector<Dot>;

// The values of the other direction are negated: both then rise with the delay, and what is
// looked for is below them.
Dots dots_of(const std::vector<ClockSample> &samples, const Directions &directions,
             Direction direction, int64_t from_ns, int64_t to_ns)
{
    const double sign = direction == Direction::kForward ? 1 : -1;
    Dots dots;
    for (const ClockSample &sample : samples)
        if (directions.of_flow[sample.flow] == direction && sample.time_ns >= from_ns &&
            sample.time_ns <= to_ns)
            dots.push_back({double(sample.time_ns - from_ns), sign * double(sample.difference_ns)});
    return dots;
}

// Whether the middle one of three is not below the line through the others.
bool is_above(const Dot &first, const Dot &middle, const Dot &last)
{
    return (middle.value_ns - first.value_ns) * (last.time_ns - first.time_ns) >=
           (last.value_ns - first.value_ns) * (middle.time_ns - first.time_ns);
}

// Of all lines below the dots, the one that is closest to them in sum: the side of the convex hull
// below their mean time (Moon, Skelly, Towsley, 1999).
std::optional<double> slope_below(const Dots &dots)
{
    if (dots.size() < kDriftSamples || dots.back().time_ns - dots.front().time_ns < kDriftNs)
        return std::nullopt;
    Dots hull;
    double mean_ns = 0;
    for (const Dot &dot : dots) {
        mean_ns += dot.time_ns / double(dots.size());
        while (hull.size() >= 2 && is_above(hull[hull.size() - 2], hull.back(), dot))
            hull.pop_back();
        hull.push_back(dot);
    }
    for (size_t i = 1; i < hull.size(); ++i)
        if (hull[i].time_ns >= mean_ns && hull[i].time_ns > hull[i - 1].time_ns)
            return (hull[i].value_ns - hull[i - 1].value_ns) /
                   (hull[i].time_ns - hull[i - 1].time_ns);
    return std::nullopt;
}

double least_over_line(const Dots &dots, double slope)
{
    double least = dots.front().value_ns - slope * dots.front().time_ns;
    for (const Dot &dot : dots)
        least = std::min(least, dot.value_ns - slope * dot.time_ns);
    return least;
}

ClockPiece piece_of(const std::vector<ClockSample> &samples, const Directions &directions,
                    int64_t from_ns, int64_t to_ns)
{
    const Dots forward = dots_of(samples, directions, Direction::kForward, from_ns, to_ns),
               backward = dots_of(samples, directions, Direction::kBackward, from_ns, to_ns);
    const auto rise = slope_below(forward), fall = slope_below(backward);
    ClockPiece piece{from_ns, to_ns, 0, 0};
    if (rise && fall)
        piece.drift = (*rise - *fall) / 2;
    else
        piece.drift = rise ? *rise : fall ? -*fall : 0;
    if (!forward.empty() && !backward.empty())
        piece.offset_ns =
            (least_over_line(forward, piece.drift) - least_over_line(backward, -piece.drift)) / 2;
    else if (!forward.empty())
        piece.offset_ns = least_over_line(forward, piece.drift);
    else if (!backward.empty())
        piece.offset_ns = -least_over_line(backward, -piece.drift);
    return piece;
}

size_t count_negative_delays(const std::vector<ClockSample> &samples, const Directions &directions)
{
    return size_t(std::count_if(samples.begin(), samples.end(), [&](const ClockSample &sample) {
        const bool is_forward = directions.of_flow[sample.flow] == Direction::kForward;
        return is_forward ? sample.difference_ns < 0 : sample.difference_ns > 0;
    }));
}

// A wrong match or two do not show anything, unless they come with a step.
bool are_synchronised(const std::vector<ClockSample> &samples, const Directions &directions,
                      bool has_both_directions)
{
    constexpr size_t kOneOf = 1000;
    const size_t negative = count_negative_delays(samples, directions);
    if (negative > samples.size() / kOneOf)
        return false;
    return negative == 0 || !has_both_directions ||
           find_steps(samples, directions, StepEvidence::kBothDirections).empty();
}

bool has_direction(const std::vector<ClockSample> &samples, const Directions &directions,
                   Direction direction)
{
    return std::any_of(samples.begin(), samples.end(), [&](const ClockSample &sample) {
        return directions.of_flow[sample.flow] == direction;
    });
}
} // namespace

double ClockModel::offset_ns(int64_t time_ns) const
{
    if (pieces.empty())
        return 0;
    auto piece = pieces.begin();
    while (piece + 1 != pieces.end() && time_ns >= (piece + 1)->from_ns)
        ++piece;
    return piece->offset_ns + piece->drift * double(time_ns - piece->from_ns);
}

void ClockModel::exchange()
{
    is_by_second = !is_by_second;
    for (ClockPiece &piece : pieces) {
        piece.offset_ns = -piece.offset_ns;
        piece.drift = -piece.drift;
    }
    for (ClockStep &step : steps)
        step.step_ns = -step.step_ns;
}

ClockModel find_clock(const std::vector<ClockSample> &samples, const Directions &directions,
                      ClockWish wish)
{
    ClockModel model;
    model.has_both_directions = has_direction(samples, directions, Direction::kForward) &&
                                has_direction(samples, directions, Direction::kBackward);
    model.is_synchronised = wish == ClockWish::kSynchronised ||
                            (wish == ClockWish::kDetect &&
                             are_synchronised(samples, directions, model.has_both_directions));
    if (model.is_synchronised || samples.empty())
        return model;
    model.steps = find_steps(samples, directions,
                             model.has_both_directions ? StepEvidence::kNothingAgainst
                                                       : StepEvidence::kOneDirection);
    int64_t from_ns = samples.front().time_ns;
    for (const ClockStep &step : model.steps) {
        model.pieces.push_back(piece_of(samples, directions, from_ns, step.time_ns - 1));
        from_ns = step.time_ns;
    }
    model.pieces.push_back(piece_of(samples, directions, from_ns, samples.back().time_ns));
    return model;
}
} // namespace qos
