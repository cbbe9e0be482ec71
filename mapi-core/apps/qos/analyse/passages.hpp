// SPDX-License-Identifier: MIT
// passages: groups of copies -> the packets of one direction, with those of which nothing is known
// taken out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "qos/analyse/clock.hpp"
#include "qos/analyse/load.hpp"
#include "qos/analyse/match.hpp"
#include "qos/analyse/measure.hpp"

namespace qos
{
struct Passages {
    std::vector<Passage> list; // in the order in which they were sent
    uint64_t only_at_receiver = 0;
    uint64_t undecided = 0;
    uint64_t ambiguous_packets = 0;
    uint64_t ambiguous_sightings = 0;
};

struct PassageRules {
    int64_t window_ns = 0;
    bool is_all_time = false;
};

Passages find_passages(const Observations &seen, const Matches &matches,
                       const Directions &directions, const ClockModel &clock, Direction direction,
                       const PassageRules &rules);

// Times of the point's clock -> those of the first point's.  Around a step of the second clock,
// several times are possible: that nearest to what the first point has seen of the packet, if it
// has.
int64_t common_time_ns(int64_t time_ns, bool is_of_second, const ClockModel &clock,
                       std::span<const Sighting> at_first);
// The times that the point covers, by the first point's clock.  If the second clock has stepped
// back, the ends of a run's time are not those of its packets: those that both points have seen
// are taken, too.
std::vector<TimeRange> common_ranges(const Point &point, bool is_second, const ClockModel &clock);
} // namespace qos
