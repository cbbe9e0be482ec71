// SPDX-License-Identifier: MIT
// verify: one check of one counter source -> its outcome.
#pragma once

#include <span>

#include "cli/verify/judge.hpp"
#include "cli/verify/worker.hpp"

namespace nsdump::verify
{
struct Check {
    const char *name;
    const char *meaning;
    Disturbance disturbance = Disturbance::kNone;
    unsigned workers = 1;
    int longest = 100000;
    bool overflows = false; // the counter's register
};

std::span<const Check> all_checks();

// The truth of the slices that the check runs with this source.
Truth truth_of(const Check &check, nsp_counter_source source);

// Runs the check in processes of its own, so that a counter that faults cannot end the caller.
// Throws command::Interrupted.
Outcome run_check(const Check &check, nsp_counter_source source, const Truth &truth);
} // namespace nsdump::verify
