// SPDX-License-Identifier: MIT
// results: what the program has measured, before it becomes a table, JSON or CSV; why a row has no
// figures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/model/additive.hpp"
#include "mapi_cost/model/row.hpp"
#include "mapi_cost/run/cost.hpp"
#include "mapi_cost/run/run.hpp"
#include "mapi_cost/source/scenario.hpp"

namespace mapi_cost
{
// Means over the sessions of the run.
struct ProbeCost {
    double inner_ticks = 0;
    double outer_ticks = 0;
    double inner_end_ticks = 0;
    double outer_end_ticks = 0;
    double raw_share = 0; // of all measured cycles
};

struct Totals {
    uint64_t issued = 0;
    uint64_t drained = 0;
    std::array<uint64_t, nsdump::kLostCauses> lost{};
    bool equation_holds = true;
    uint64_t sessions = 0;
    uint64_t timed_sessions = 0;
    uint64_t drifts = 0; // timed sessions in which the pair's cost drifted by more than
                         // kDriftShare and its interval
    double largest_drift_share =
        0; // |end / start - 1| of the pair's outer cost, over the timed sessions
    uint64_t units_left_out = 0;
    uint64_t units = 0;
};

struct Results {
    Survey survey;
    RunSettings settings;
    std::optional<LiveArrivals> live; // over all rows; nullopt: a capture was measured
    uint64_t repetitions = 0;         // of the capture in a time pass
    std::string cpu, kernel, virtualised;
    nsdump::Clock clock;
    std::string instruction_source;  // rdpmc, perf-read, step; empty: no source
    std::string no_instructions_why; // set if there is no source
    ProbeCost probe;
    std::vector<ProgramCost> program_costs; // of the loads, by random thinning
    std::vector<LoadFactor> inside_factors; // the same, of slices with others inside
    Totals totals;
    std::vector<Row> rows;
    std::vector<Row> companions; // of rows with several functions; only in the models
    AdditiveModels models;       // of both
    bool is_interrupted = false;
    std::vector<std::string> notes;
};

// What is wrong with the capture, and which packets the costs cover.
std::string damage_text(const Survey &survey);
// "step: exact, single-stepped"; empty without a source.
std::string instruction_source_text(const std::string &source);
std::string cycle_source_text(const nsdump::Clock &clock);

// Text after "no cycles: " or "no instructions: ".
std::string why_missing(const Scenario &scenario, const Results &results,
                        const NothingMeasured &error);
// Text after "no interval of cycles: " or "no interval of instructions: ".
std::string why_no_interval(const Scenario &scenario, const Results &results);

// A note on rows whose filter passes nothing; empty if the filter passes a packet.
std::string filter_note(const Survey &survey);
} // namespace mapi_cost
