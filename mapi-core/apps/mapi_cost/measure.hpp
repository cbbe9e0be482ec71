// SPDX-License-Identifier: MIT
// measure: scenarios -> rows, one after another; sums over all sessions about machine, probes and
// losses.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "results.hpp"

namespace mapi_cost
{
// Runs `flows` flows with the scenario's functions on the packets of the source.
using MakePass = std::function<Pass(const Scenario &, unsigned flows, Field)>;

class Measurement
{
public:
    Measurement(Results &results, MakePass make_pass, bool wants_instructions);

    // Appends the row, without unavailable figures.  Throws what a pass throws; earlier rows are
    // kept.
    void measure(const Scenario &scenario);

private:
    const Pass &pass(const Scenario &scenario, unsigned flows, Field field);
    void take_report(const TraceSums &sums, Field field);
    void take_arrivals(const Arrivals &arrivals, Field field);
    // Each sets the figures of one field.
    void measure_plain(Row &row, Field field);
    void measure_further(Row &row, Field field);

    Results &results_;
    const MakePass make_pass_;
    const bool wants_instructions_;
    std::map<std::string, Pass> passes_; // Table 4 reuses passes of Table 2
    double raw_cycles_ = 0;
    double net_cycles_ = 0;
};
} // namespace mapi_cost
