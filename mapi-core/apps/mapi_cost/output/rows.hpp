// SPDX-License-Identifier: MIT
// rows: what the program has to say, before it is a table, JSON or CSV.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/model/additive.hpp"
#include "mapi_cost/run/cost.hpp"
#include "rates.hpp"
#include "mapi_cost/run/run.hpp"
#include "mapi_cost/source/scenario.hpp"

namespace mapi_cost
{
struct RowPart {
    std::string name;
    std::optional<double> instructions;
    std::optional<double> cycles;
    bool is_counted = true;
};

// In the time pass, and in the one that counts instructions.
struct LiveArrivals {
    Arrivals timed;
    Arrivals counted;
};

struct Row {
    Scenario scenario;
    std::optional<Measured> instructions;
    std::optional<Measured> cycles;
    std::vector<RowPart> parts; // empty for a difference
    std::vector<Reach> reach;         // in the time pass
    std::vector<Reach> counted_reach; // in the instruction pass
    MeanBytes bytes;
    std::uint64_t lost_copies = 0;
    LiveArrivals arrivals = {}; // of a live device
    std::optional<Rates> rates;
    std::string missing; // which figures or intervals could not be had, why, and what would help; empty when all are there

    std::optional<double> driver_read_cycles() const; // what the driver takes for a packet
};

// Mean over the sessions of the run.
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
    std::uint64_t drifts = 0; // timed sessions in which the pair's cost moved by more than kDriftShare and its interval
    double largest_drift_share = 0; // |end / start - 1| of the pair's outer cost, over the timed sessions
    std::uint64_t units_left_out = 0;
    std::uint64_t units = 0;
};

struct Results {
    Survey survey;
    RunSettings settings;
    std::optional<LiveArrivals> live; // of all rows; none: a capture was measured, not a device
    std::uint64_t repetitions = 0; // of the capture in a time pass
    std::string cpu, kernel, virtualised;
    nsdump::Clock clock;
    std::string instruction_source;  // rdpmc, perf-read, step; empty: none
    std::string no_instructions_why; // when there is no source
    ProbeCost probe;
    Totals totals;
    std::vector<Row> rows;
    AdditiveModels models; // of the rows
    bool is_interrupted = false;
    std::vector<std::string> notes;
};

// What is wrong with the capture and what the costs are of.
std::string damage_text(const Survey &survey);
// "step: exact, single-stepped"; empty without a source.
std::string instruction_source_text(const std::string &source);
std::string cycle_source_text(const nsdump::Clock &clock);
} // namespace mapi_cost
