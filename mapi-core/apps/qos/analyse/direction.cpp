// SPDX-License-Identifier: MIT
// direction: by hop limits, else by comparison with the flow of the other direction, else by the
// clocks.
#include "qos/analyse/direction.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace qos
{
namespace
{
using Known = std::vector<std::optional<Direction>>;

struct FlowSamples {
    std::vector<int64_t> differences_ns;
    int64_t hops = 0; // sum of signs
    uint64_t at_from = 0, at_to = 0;

    bool has_any() const { return !differences_ns.empty(); }
    int64_t median_ns() const
    {
        std::vector<int64_t> sorted = differences_ns;
        const auto middle = sorted.begin() + ptrdiff_t(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
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
            flows_[sample.flow].differences_ns.push_back(sample.difference_ns);
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
            const int64_t half = int64_t(flows_[i].differences_ns.size()) / 2;
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
                known_[i] = by_sign(flows_[i].median_ns() - flows_[back].median_ns());
        }
    }

    // Zero if that fits to the known flows, else half way between their differences; nullopt
    // without flows of both directions.
    std::optional<int64_t> offset_ns() const
    {
        std::optional<int64_t> forward, backward;
        for (size_t i = 0; i < flows_.size(); ++i) {
            if (!known_[i] || !flows_[i].has_any())
                continue;
            const int64_t median = flows_[i].median_ns();
            if (*known_[i] == Direction::kForward)
                forward = std::min(forward.value_or(median), median);
            else
                backward = std::max(backward.value_or(median), median);
        }
        if (!forward || !backward)
            return std::nullopt;
        return *forward >= 0 && *backward <= 0 ? 0 : (*forward + *backward) / 2;
    }

    void use_offset(int64_t offset_ns)
    {
        for (size_t i = 0; i < flows_.size(); ++i)
            if (!known_[i] && flows_[i].has_any())
                known_[i] = by_sign(flows_[i].median_ns() - offset_ns);
    }

    bool has_unknown() const
    {
        for (size_t i = 0; i < flows_.size(); ++i)
            if (!known_[i] && flows_[i].has_any())
                return true;
        return false;
    }

    // No packet of the flow was seen at both points: it was sent where it was seen.
    Directions finish(bool is_assumed)
    {
        use_reverse();
        Directions found;
        found.is_assumed = is_assumed;
        for (size_t i = 0; i < flows_.size(); ++i) {
            const bool is_only_at_to = flows_[i].at_from == 0 && !is_assumed;
            found.of_flow.push_back(
                known_[i].value_or(is_only_at_to ? Direction::kBackward : Direction::kForward));
        }
        return found;
    }

private:
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
        return {std::vector(seen.flows.size(), Direction::kForward), false};
    Finder finder(seen, matches, samples);
    finder.use_hops();
    finder.use_reverse();
    if (const auto offset = finder.offset_ns())
        finder.use_offset(*offset);
    else if (!belief.is_unsynchronised)
        finder.use_offset(0);
    return finder.finish(finder.has_unknown());
}
} // namespace qos
