// SPDX-License-Identifier: MIT
// rows: the results of the program, before they become a table, JSON or CSV.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/model/additive.hpp"
#include "mapi_cost/run/cost.hpp"
#include "mapi_cost/run/run.hpp"
#include "mapi_cost/source/scenario.hpp"
#include "rates.hpp"

namespace mapi_cost
{
struct RowPart {
    std::string name;
    std::optional<double> instructions;
    std::optional<double> cycles;
    bool is_counted = true;
};

// In the time pass, and in the pass that counts instructions.
struct LiveArrivals {
    Arrivals timed;
    Arrivals counted;
};

struct Row {
    Scenario scenario;
    std::optional<Measured> instructions;
    std::optional<Measured> cycles;
    std::vector<RowPart> parts;       // empty for a difference
    std::vector<Reach> reach;         // in the time pass
    std::vector<Reach> counted_reach; // in the instruction pass
    MeanBytes bytes;
    std::uint64_t lost_copies = 0;
    LiveArrivals arrivals = {}; // only for a live device
    std::optional<Rates> rates;
    std::string
        missing; // which figures or intervals are unavailable, why, and the remedy; empty if none

    std::optional<double> driver_read_cycles() const; // the driver's cost per packet
};

// Means over the sessions of the run.
struct ProbeCost {
    double inner_ticks = 0;
    double outer_ticks = 0;
    double inner_end_ticks = 0;
    double outer_end_ticks = 0;
    double raw_share = 0; // of all measured cycles
};

struct Totals {
    std::uint64_t issued = 0;
    std::uint64_t drained = 0;
    std::array<std::uint64_t, nsdump::kLostCauses> lost{};
    bool equation_holds = true;
    std::uint64_t sessions = 0;
    std::uint64_t timed_sessions = 0;
    std::uint64_t drifts = 0; // timed sessions in which the pair's cost drifted by more than
                              // kDriftShare and its interval
    double largest_drift_share =
        0; // |end / start - 1| of the pair's outer cost, over the timed sessions
    std::uint64_t units_left_out = 0;
    std::uint64_t units = 0;
};

struct Results {
    Survey survey;
    RunSettings settings;
    std::optional<LiveArrivals> live; // over all rows; nullopt: a capture was measured
    std::uint64_t repetitions = 0;    // of the capture in a time pass
    std::string cpu, kernel, virtualised;
    nsdump::Clock clock;
    std::string instruction_source;  // rdpmc, perf-read, step; empty: no source
    std::string no_instructions_why; // set if there is no source
    ProbeCost probe;
    Totals totals;
    std::vector<Row> rows;
    AdditiveModels models; // of the rows
    bool is_interrupted = false;
    std::vector<std::string> notes;
};

// What is wrong with the capture, and which packets the costs cover.
std::string damage_text(const Survey &survey);
// "step: exact, single-stepped"; empty without a source.
std::string instruction_source_text(const std::string &source);
std::string cycle_source_text(const nsdump::Clock &clock);
} // namespace mapi_cost
