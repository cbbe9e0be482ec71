// SPDX-License-Identifier: MIT
// direction: by hop limits, else by comparison with the flow of the other direction, else by the
// clocks.
#include "qos/analyse/direction.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "qos/analyse/median.hpp"

namespace qos
{
namespace
{
using Known = std::vector<std::optional<Direction>>;

struct Dot {
    int64_t time_ns = 0;
    int64_t difference_ns = 0;
};
using Dots = std::vector<Dot>; // in the order of their times

// Finds the dot nearest to times that do not decrease.
class Nearest
{
public:
    explicit Nearest(const Dots &dots) : dots_(dots) {}

    int64_t difference_ns(int64_t time_ns)
    {
        while (at_ + 1 < dots_.size() &&
               std::abs(dots_[at_ + 1].time_ns - time_ns) <= std::abs(dots_[at_].time_ns - time_ns))
            ++at_;
        return dots_[at_].difference_ns;
    }

private:
    const Dots &dots_;
    size_t at_ = 0;
};

// How far the differences of one are above those of the other at about the same time: drift and
// steps of the clocks are in both.
int64_t median_above(const Dots &one, const Dots &other)
{
    const bool is_fewer = one.size() <= other.size();
    Nearest nearest(is_fewer ? other : one);
    std::vector<int64_t> above;
    for (const Dot &dot : is_fewer ? one : other)
        above.push_back(dot.difference_ns - nearest.difference_ns(dot.time_ns));
    return is_fewer ? median_of(std::move(above)) : -median_of(std::move(above));
}

struct FlowSamples {
    Dots dots;
    int64_t hops = 0; // sum of signs
    uint64_t at_from = 0, at_to = 0;

    bool has_any() const { return !dots.empty(); }
    int64_t median_ns() const
    {
        std::vector<int64_t> differences;
        for (const Dot &dot : dots)
            differences.push_back(dot.difference_ns);
        return median_of(std::move(differences));
    }
};

Direction by_sign(int64_t value)
{
    return value < 0 ? Direction::kBackward : Direction::kForward;
}

Direction other(Direction direction)
{
    return direction == Direction::kForward ? Direction::kBackward : Direction::kForward;
}

class Finder
{
public:
    Finder(const Observations &seen, const Matches &matches,
           const std::vector<ClockSample> &samples)
        : flows_(seen.flows.size()), known_(seen.flows.size()), reverse_(seen.flows.size(), kNone)
    {
        for (const ClockSample &sample : samples) {
            flows_[sample.flow].dots.push_back({sample.time_ns, sample.difference_ns});
            flows_[sample.flow].hops += (sample.hops > 0) - (sample.hops < 0);
        }
        for (const Copies &copies : matches.copies) {
            flows_[copies.flow].at_from += copies.at_from.size();
            flows_[copies.flow].at_to += copies.at_to.size();
        }
        std::unordered_map<FlowKey, uint32_t, FlowKeyHash> numbers;
        for (uint32_t i = 0; i < seen.flows.size(); ++i)
            numbers.emplace(seen.flows[i], i);
        for (uint32_t i = 0; i < seen.flows.size(); ++i) {
            const auto found = numbers.find(seen.flows[i].reversed());
            if (found != numbers.end() && found->second != i)
                reverse_[i] = found->second;
        }
    }

    // A router on the way reduces the hop limit.
    void use_hops()
    {
        for (size_t i = 0; i < flows_.size(); ++i) {
            const int64_t half = int64_t(flows_[i].dots.size()) / 2;
            if (std::abs(flows_[i].hops) > half)
                known_[i] = by_sign(flows_[i].hops);
        }
    }

    // The offset of the clocks is in both differences, the time on the way is added to one and
    // subtracted from the other.
    void use_reverse()
    {
        for (size_t i = 0; i < flows_.size(); ++i) {
            const uint32_t back = reverse_[i];
            if (known_[i] || back == kNone)
                continue;
            if (known_[back])
                known_[i] = other(*known_[back]);
            else if (flows_[i].has_any() && flows_[back].has_any())
                known_[i] = by_sign(median_above(flows_[i].dots, flows_[back].dots));
        }
    }

    // The others by the offset of the clocks; false without flows of both directions.
    bool use_known()
    {
        const Dots forward = known_dots(Direction::kForward),
                   backward = known_dots(Direction::kBackward);
        if (forward.empty() || backward.empty())
            return false;
        if (median_least(Direction::kForward) >= 0 && median_least(Direction::kBackward) >= 0) {
            use_sign();
            return true;
        }
        for (size_t i = 0; i < flows_.size(); ++i)
            if (!known_[i] && flows_[i].has_any())
                known_[i] = by_sign(median_above(flows_[i].dots, forward) +
                                    median_above(flows_[i].dots, backward));
        return true;
    }

    // The clocks are synchronised.
    void use_sign()
    {
        for (size_t i = 0; i < flows_.size(); ++i)
            if (!known_[i] && flows_[i].has_any())
                known_[i] = by_sign(flows_[i].median_ns());
    }

    bool has_unknown() const
    {
        for (size_t i = 0; i < flows_.size(); ++i)
            if (!known_[i] && flows_[i].has_any())
                return true;
        return false;
    }

    // No packet of the flow was seen at both points: it was sent where it was seen.
    Directions finish(bool is_assumed, Direction usual)
    {
        use_reverse();
        Directions found;
        found.is_assumed = is_assumed;
        for (size_t i = 0; i < flows_.size(); ++i) {
            const uint64_t at_sender =
                usual == Direction::kForward ? flows_[i].at_from : flows_[i].at_to;
            const bool is_only_at_receiver = at_sender == 0 && !is_assumed;
            found.of_flow.push_back(known_[i].value_or(is_only_at_receiver ? other(usual) : usual));
        }
        return found;
    }

private:
    Dots known_dots(Direction direction) const
    {
        Dots dots;
        for (size_t i = 0; i < flows_.size(); ++i)
            if (known_[i] == direction)
                dots.insert(dots.end(), flows_[i].dots.begin(), flows_[i].dots.end());
        std::sort(dots.begin(), dots.end(),
                  [](const Dot &one, const Dot &two) { return one.time_ns < two.time_ns; });
        return dots;
    }

    // The least time on the way of known flows, if the clocks are synchronised.
    int64_t median_least(Direction direction) const
    {
        const int64_t sign = direction == Direction::kForward ? 1 : -1;
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < flows_.size(); ++i)
            if (known_[i] == direction && flows_[i].has_any())
                least = std::min(least, sign * flows_[i].median_ns());
        return least;
    }

    static constexpr uint32_t kNone = UINT32_MAX;

    std::vector<FlowSamples> flows_;
    Known known_;
    std::vector<uint32_t> reverse_;
};
} // namespace

Directions find_directions(const Observations &seen, const Matches &matches,
                           const std::vector<ClockSample> &samples, const ClockBelief &belief)
{
    if (belief.is_one_way)
        return {std::vector(seen.flows.size(), belief.usual), false};
    Finder finder(seen, matches, samples);
    finder.use_hops();
    finder.use_reverse();
    if (!finder.use_known() && !belief.is_unsynchronised)
        finder.use_sign();
    return finder.finish(finder.has_unknown(), belief.usual);
}
} // namespace qos
