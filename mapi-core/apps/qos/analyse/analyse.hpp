// SPDX-License-Identifier: MIT
// analyse: what two points have seen -> figures of both directions, their flows and intervals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qos/analyse/clock.hpp"
#include "qos/analyse/load.hpp"
#include "qos/analyse/measure.hpp"

namespace qos
{
struct AnalyseOptions {
    int64_t window_ns = 10000000000; // the longest time between copies of a packet
    int64_t interval_ns = 0;         // 0: no intervals
    bool is_one_way = false;
    bool is_all_time = false; // both points have seen everything, whatever time their runs cover
    ClockWish clock = ClockWish::kDetect;
};

struct FlowFigures {
    FlowKey flow;
    Measured measured;
};

struct IntervalFigures {
    int64_t begin_ns = 0; // by the clock that gives the times
    Measured measured;
};

// The packets of one direction.
struct PathFigures {
    std::string from, to;
    Measured total;
    uint64_t only_at_receiver = 0; // neither sent nor lost, as far as the points have seen
    // Seen by one point at a time that the other one does not cover, so that nothing is known.
    uint64_t undecided = 0;
    std::vector<FlowFigures> flows; // those with most packets first
    std::vector<IntervalFigures> intervals;
};

struct PointSummary {
    std::string name;
    uint64_t runs = 0, packets = 0, selected = 0;
    uint64_t unread = 0, lost = 0, malformed = 0, repeated = 0;
    int64_t first_ns = 0, last_ns = 0;
    bool has_stopped = false;
    bool is_cut = false; // packets, unread and lost are of whole runs, of which a part was read

    // Whether it is known that packets are missing in the figures.
    bool is_incomplete() const { return malformed > 0 || (lost > 0 && !is_cut); }
};

struct Figures {
    double rate = 1;
    PointSummary from, to;
    TimeRange common; // that both points cover, by the clock that gives the times
    ClockModel clock;
    bool is_direction_assumed = false;
    // Packets that the sending point saw several times within the window: which copy arrived is
    // unknown, so all are left out.
    uint64_t ambiguous_packets = 0;
    uint64_t ambiguous_sightings = 0;
    uint64_t collided_digests = 0; // shared by packets of different flows, which are left out
    uint64_t collided_sightings = 0;
    double expected_collisions = 0;
    double interval_s = 0;
    PathFigures forward, backward;

    bool has_common_time() const { return common.first_ns <= common.last_ns && common.last_ns > 0; }
    // What the user should know before relying on the figures; each a sentence.
    std::vector<std::string> notes() const;
};

Figures analyse(const Observations &seen, const AnalyseOptions &options);
} // namespace qos
