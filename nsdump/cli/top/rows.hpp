// SPDX-License-Identifier: MIT
// cli: the report of an interval -> rows to show, filtered and sorted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nslice/ring.h>

#include "live/live_trace.hpp"

namespace nsdump
{
// An interval of the recording and what it belongs to.
struct TopInterval {
    LiveInterval live;
    double seconds = 0;
    double elapsed_s = 0;                            // since the recording began
    std::array<uint64_t, NSLICE_LOST_CAUSES> lost{}; // in the interval
    int pid = 0;
    std::string program;
    bool has_ended = false; // the program, which makes this interval the last one

    uint64_t lost_sum() const;
    // What a START and a STOP cost, and all of them per time; none without constants.
    std::optional<double> pair_ns() const;
    std::optional<double> probes_share() const;
};

struct TopValue {
    double mean = 0;
    std::optional<double> ci95;
    double total = 0;
};

struct TopCounter {
    std::string name;
    TopValue value;
    std::optional<double> per_packet, per_packet_ci95;
    bool is_net = false;
};

struct TopRow {
    std::string name;
    uint64_t count = 0;
    double per_s = 0;
    bool is_net = false;        // otherwise raw, for want of constants
    std::optional<TopValue> ns; // none if the slices were single-stepped
    std::optional<double> packet_ns, packet_ns_ci95;
    std::optional<double> share; // of one CPU's time, slices inside included
    std::vector<TopCounter> counters;
    uint64_t left_out = 0; // migrated, crossed, or open during a loss: without values
};

// By the sum of the interval; per packet and rate by themselves.
enum class TopSort { kTime, kInstructions, kPacket, kRate };
inline constexpr std::array kTopSorts = {"time", "instructions", "packet", "rate"};

struct TopOrder {
    TopSort sort = TopSort::kTime;
    bool is_reverse = false; // smallest first
    std::string filter;      // part of the name
};

// The counter that is shown and sorted by: instructions, or else the first one; none without.
const TopCounter *main_counter(const TopRow &row);

std::vector<TopRow> rows_of(const TopInterval &interval, const TopOrder &order);
} // namespace nsdump
