// SPDX-License-Identifier: MIT
// run: plan -> passes over all cases, with what the machine did meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "affinity.hpp"
#include "cases/cases.hpp"
#include "common/command/status_line.hpp"
#include "report/environment.hpp"
#include "results.hpp"
#include "report/warnings.hpp"

namespace calibrate
{
struct Plan {
    unsigned passes = 0;
    unsigned stepping_passes = 0; // of these, how many single-step as well
    std::uint32_t batches_per_pass = 0;
    std::string counters;
    bool must_have_counters = false;
    bool does_paper = false; // the paper's tables
};

// batches: wanted for each figure in all; 0: what the kind of run affords.  counters: empty for the
// default.
Plan make_plan(std::uint32_t batches, bool is_thorough, const std::string &counters);

struct Run {
    Results results;
    RunFacts facts;
    bool was_interrupted = false;
};

// The thread is pinned already.  Throws CannotMeasure.
Run run_cases(const Plan &plan, Affinity &affinity, unsigned cpu, command::StatusLine &progress);

// What can be said of the whole once all passes are in.
void note_spreads(const Results &results, RunFacts &facts);
} // namespace calibrate
