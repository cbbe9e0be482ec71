// SPDX-License-Identifier: MIT
// measure: scenarios -> rows, one after another; sums over all sessions about machine, probes and
// losses.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "results.hpp"

namespace mapi_cost
{
// `flows` flows with the scenario's functions on the packets of the source.
struct LoadRequest {
    Scenario scenario;
    unsigned flows = 1;
    InsideFactors inside = {};
};

struct Runner {
    // One pass of a load on its own.
    std::function<Pass(const Scenario &, unsigned flows, Field)> run;
    // Times each load once, in this order; null if packets cannot be repeated.
    std::function<std::vector<Pass>(const std::vector<LoadRequest> &)> time = nullptr;
    // A pass with random thinning; may be null.
    std::function<nsdump::StatsReport(const LoadRequest &)> thin = nullptr;
};

using Progress = std::function<void(const std::string &)>;

class Measurement
{
public:
    Measurement(Results &results, Runner runner, bool wants_instructions);

    // Times the scenarios that can take turns, several times in random order; the others are timed
    // by measure().
    void time(const std::vector<Scenario> &scenarios, const Progress &progress);

    // Appends the row, without unavailable figures.  Throws what a pass throws; earlier rows are
    // kept.
    void measure(const Scenario &scenario);

    // For a run that has ended early: the row with its cycles, if enough passes were timed, without
    // its instructions.
    void measure_timed_only(const Scenario &scenario, const std::string &why);

private:
    // The loads that a further flow is compared with are timed right before or after it.
    using Group = std::vector<LoadRequest>;
    struct Timed {
        Pass first;                             // without its sums
        std::vector<std::optional<Cost>> costs; // by repetition; none if no unit was complete
        uint64_t units_left_out = 0;
    };

    static std::vector<Group> groups_of(const std::vector<Scenario> &scenarios);
    void thin(LoadRequest &load);
    void time_once(std::vector<Group> &groups);
    std::vector<Cost> costs_of(const Timed &timed) const;
    void set_cycles(Row &row, const Cost &cycles) const;
    const Pass &pass(const Scenario &scenario, unsigned flows, Field field);
    void take_losses(const nsdump::StatsReport &report);
    void take_report(const nsdump::StatsReport &report, Field field);
    void take_sums(const TraceSums &sums, Field field);
    void take_arrivals(const Arrivals &arrivals, Field field);
    // Each sets the figures of one field.
    void measure_field(Row &row, Field field);
    void measure_plain(Row &row, Field field);
    void measure_further(Row &row, Field field);
    void append(Row row);

    Results &results_;
    const Runner runner_;
    const bool wants_instructions_;
    std::map<std::string, Pass> passes_; // Table 4 reuses passes of Table 2
    std::map<std::string, Timed> timed_; // the same, for repeated passes
    std::minstd_rand random_{std::random_device{}()};
    double raw_cycles_ = 0;
    double net_cycles_ = 0;
};
} // namespace mapi_cost
