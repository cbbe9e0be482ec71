// SPDX-License-Identifier: MIT
// passages: pairs of sightings, and what is missing at one of the points.
#include "qos/analyse/passages.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace qos
{
namespace
{
// What is missing, by the first point's clock.
struct Missing {
    int64_t time_ns = 0;
    bool is_sent = false; // otherwise seen only at the receiver
    uint32_t flow = 0;
};

uint64_t distance_ns(int64_t one_ns, int64_t two_ns)
{
    return one_ns < two_ns ? uint64_t(two_ns) - uint64_t(one_ns)
                           : uint64_t(one_ns) - uint64_t(two_ns);
}

// The offset is a function of the first clock's time, which is what is looked for.
int64_t time_in_piece_ns(int64_t time_ns, const ClockPiece &piece)
{
    int64_t common_ns = time_ns;
    for (int i = 0; i < 3; ++i)
        common_ns = time_ns -
                    std::llround(piece.offset_ns + piece.drift * double(common_ns - piece.from_ns));
    return common_ns;
}

uint64_t outside_ns(int64_t time_ns, const std::vector<ClockPiece> &pieces, size_t number)
{
    if (time_ns < pieces[number].from_ns)
        return distance_ns(time_ns, pieces[number].from_ns);
    const bool is_last = number + 1 == pieces.size();
    const int64_t end_ns = is_last ? pieces[number].to_ns : pieces[number + 1].from_ns;
    return time_ns >= end_ns ? distance_ns(time_ns, end_ns) : 0;
}

class Finder
{
public:
    Finder(const Observations &seen, const ClockModel &clock, Direction direction,
           const PassageRules &rules)
        : seen_(seen), clock_(clock), is_forward_(direction == Direction::kForward), rules_(rules)
    {
    }

    void add(const Copies &copies)
    {
        const auto sent = is_forward_ ? copies.at_from : copies.at_to;
        const auto arrived = is_forward_ ? copies.at_to : copies.at_from;
        if (is_ambiguous(sent)) {
            ++found_.ambiguous_packets;
            found_.ambiguous_sightings += sent.size() + arrived.size();
            return;
        }
        std::vector<Passage> passages;
        for (const Sighting &one : sent)
            passages.push_back({sent_time(one, copies), 0, 0, one.flow, 0});
        for (const Sighting &one : arrived)
            if (!assign(one, copies, passages))
                missing_.push_back({arrival_time(one, copies), false, one.flow});
        for (const Passage &passage : passages)
            if (passage.copies > 0)
                found_.list.push_back(passage);
            else
                missing_.push_back({passage.sent_ns, true, passage.flow});
    }

    Passages finish()
    {
        find_bounds();
        const auto receiver =
                       common_ranges(is_forward_ ? seen_.to : seen_.from, is_forward_, clock_),
                   sender =
                       common_ranges(is_forward_ ? seen_.from : seen_.to, !is_forward_, clock_);
        for (const Missing &one : missing_) {
            const bool is_decided =
                rules_.is_all_time ||
                (one.is_sent ? is_covered(receiver, one.time_ns + least_ns_, one.time_ns + most_ns_)
                             : is_covered(sender, one.time_ns - most_ns_, one.time_ns - least_ns_));
            if (!is_decided)
                ++found_.undecided;
            else if (one.is_sent)
                found_.list.push_back({one.time_ns, 0, 0, one.flow, 0});
            else
                ++found_.only_at_receiver;
        }
        std::sort(found_.list.begin(), found_.list.end(), is_before);
        return std::move(found_);
    }

private:
    // Packets of equal sending times, as from a coarse clock, have no order that could be broken:
    // they are taken to have been sent in the order of their arrival.
    static bool is_before(const Passage &a, const Passage &b)
    {
        return std::tuple(a.sent_ns, a.copies == 0, a.arrived_ns, a.flow) <
               std::tuple(b.sent_ns, b.copies == 0, b.arrived_ns, b.flow);
    }

    int64_t sent_time(const Sighting &one, const Copies &copies) const
    {
        return common_time_ns(one.time_ns, !is_forward_, clock_, copies.at_from);
    }
    int64_t arrival_time(const Sighting &one, const Copies &copies) const
    {
        return common_time_ns(one.time_ns, is_forward_, clock_, copies.at_from);
    }

    bool is_ambiguous(std::span<const Sighting> sent) const
    {
        for (size_t i = 1; i < sent.size(); ++i)
            if (sent[i].time_ns - sent[i - 1].time_ns <= rules_.window_ns)
                return true;
        return false;
    }

    // To the packet that is nearest in time; false if none is within the window.
    bool assign(const Sighting &one, const Copies &copies, std::vector<Passage> &passages) const
    {
        const int64_t time_ns = arrival_time(one, copies);
        const auto distance = [&](const Passage &passage) {
            return distance_ns(time_ns, passage.sent_ns);
        };
        const auto nearest = std::min_element(
            passages.begin(), passages.end(),
            [&](const Passage &a, const Passage &b) { return distance(a) < distance(b); });
        if (nearest == passages.end() || distance(*nearest) > uint64_t(rules_.window_ns))
            return false;
        if (nearest->copies++ > 0) // sightings are in the order of their times
            return true;
        nearest->arrived_ns = clock_.steps.empty() ? one.time_ns : time_ns;
        nearest->delay_ns = double(time_ns - nearest->sent_ns);
        return true;
    }

    void find_bounds()
    {
        if (found_.list.empty())
            return;
        const auto [least, most] = std::minmax_element(
            found_.list.begin(), found_.list.end(),
            [](const Passage &a, const Passage &b) { return a.delay_ns < b.delay_ns; });
        least_ns_ = int64_t(std::floor(least->delay_ns));
        most_ns_ = int64_t(std::ceil(most->delay_ns));
    }

    static bool is_covered(const std::vector<TimeRange> &ranges, int64_t first_ns, int64_t last_ns)
    {
        return std::any_of(ranges.begin(), ranges.end(), [&](const TimeRange &range) {
            return range.first_ns <= first_ns && last_ns <= range.last_ns;
        });
    }

    const Observations &seen_;
    const ClockModel &clock_;
    const bool is_forward_;
    const PassageRules &rules_;
    Passages found_;
    std::vector<Missing> missing_;
    int64_t least_ns_ = 0, most_ns_ = 0; // of the delays
};
} // namespace

int64_t common_time_ns(int64_t time_ns, bool is_of_second, const ClockModel &clock,
                       std::span<const Sighting> at_first)
{
    if (!is_of_second || clock.pieces.empty())
        return time_ns;
    int64_t best_ns = time_ns;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < clock.pieces.size(); ++i) {
        const int64_t common_ns = time_in_piece_ns(time_ns, clock.pieces[i]);
        uint64_t away = at_first.empty() ? outside_ns(common_ns, clock.pieces, i) : UINT64_MAX;
        for (const Sighting &one : at_first)
            away = std::min(away, distance_ns(common_ns, one.time_ns));
        if (away < best) {
            best = away;
            best_ns = common_ns;
        }
    }
    return best_ns;
}

std::vector<TimeRange> common_ranges(const Point &point, bool is_second, const ClockModel &clock)
{
    std::vector<TimeRange> ranges;
    for (const TimeRange &range : point.covered)
        ranges.push_back({common_time_ns(range.first_ns, is_second, clock, {}),
                          common_time_ns(range.last_ns, is_second, clock, {})});
    if (is_second && ranges.size() == 1 && !clock.steps.empty()) {
        TimeRange &range = ranges.front();
        range = {std::min({range.first_ns, range.last_ns, clock.pieces.front().from_ns}),
                 std::max({range.first_ns, range.last_ns, clock.pieces.back().to_ns})};
    }
    return ranges;
}

Passages find_passages(const Observations &seen, const Matches &matches,
                       const Directions &directions, const ClockModel &clock, Direction direction,
                       const PassageRules &rules)
{
    Finder finder(seen, clock, direction, rules);
    for (const Copies &copies : matches.copies)
        if (directions.of_flow[copies.flow] == direction)
            finder.add(copies);
    return finder.finish();
}
} // namespace qos
