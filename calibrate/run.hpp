// SPDX-License-Identifier: MIT
// run: plan -> passes over all cases, with the steal time and preemptions meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "affinity.hpp"
#include "cases/cases.hpp"
#include "common/command/status_line.hpp"
#include "report/environment.hpp"
#include "report/warnings.hpp"
#include "results.hpp"

namespace calibrate
{
struct Plan {
    unsigned passes = 0;
    unsigned stepping_passes = 0; // of these, how many single-step as well
    unsigned most_repeated = 0;   // passes that are made again because they were disturbed
    uint32_t batches_per_pass = 0;
    std::string counters;
    bool must_have_counters = false;
    bool does_paper = false; // the paper's tables
};

// batches: total for each figure; 0: default for the kind of run.  counters: empty for the default.
Plan make_plan(uint32_t batches, bool is_thorough, const std::string &counters);

struct Run {
    Results results;
    RunFacts facts;
    bool was_interrupted = false;
};

// The thread must be pinned.  Throws CannotMeasure.
Run run_cases(const Plan &plan, Affinity &affinity, unsigned cpu, command::StatusLine &progress);

// Fills in the facts that depend on all passes.
void note_spreads(const Results &results, RunFacts &facts);
} // namespace calibrate
