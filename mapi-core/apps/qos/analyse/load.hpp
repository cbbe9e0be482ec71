// SPDX-License-Identifier: MIT
// load: a store and two points -> what each of them saw, every packet once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "qos/store/store.hpp"

namespace qos
{
// A packet that a point saw.
struct Sighting {
    int64_t time_ns = 0; // by the point's clock
    uint64_t digest = 0;
    uint32_t flow = 0; // index in Observations::flows
    uint8_t hop_limit = 0;
};

struct TimeRange {
    int64_t first_ns = 0;
    int64_t last_ns = 0;
};

struct Point {
    std::string name;
    std::vector<Sighting> sightings; // by digest, then time
    std::vector<TimeRange> covered;  // times of its runs, in order, without overlaps
    uint64_t runs = 0;
    // Of the next three, the times are not known: they are of whole runs.
    uint64_t packets = 0;     // that its runs saw
    uint64_t unread = 0;      // of these, could not be selected
    uint64_t lost = 0;        // lost by the point itself
    bool is_cut = false;      // only the last part of a run was read
    uint64_t malformed = 0;   // rows left out
    uint64_t repeated = 0;    // rows that another run at the same time has as well
    bool has_stopped = false; // its last run did not end by itself
};

struct Observations {
    std::vector<FlowKey> flows;
    Point from, to;
    int64_t below = 0; // packets with a smaller hash are in use; 2^32: all
    double rate() const;
};

struct LoadOptions {
    int64_t below = 0;   // fewer than the points have selected; 0: as many as both have
    int64_t last_ns = 0; // only the last part of what each point has seen; 0: all
};

// Throws StoreAway, StoreError.
Observations load(Store &store, const std::string &from, const std::string &to,
                  const LoadOptions &options);

// What several runs at the same time have seen is counted once: of each packet, the sightings of
// the run that saw it most often stay.  `runs` has the run of each sighting; returns the number
// of those that were removed.
uint64_t merge_runs(std::vector<Sighting> &sightings, std::vector<uint32_t> &runs);
} // namespace qos
