// SPDX-License-Identifier: MIT
// Statistics: what the device and the functions count -> the last line of JSON, and notes.
#pragma once

#include <cstdint>
#include <string>

#include <mapi/mapi.h>

#include "sids/run/rule_flow.hpp"

namespace sids
{
struct Totals {
    uint64_t rules = 0;
    uint64_t matched = 0; // rules with packets
    uint64_t alerts = 0;
    Losses losses;
};

// A line of event_type "stats".
std::string statistics_line(const mapi_stat_t &stats, const Totals &totals, bool is_complete);
// Whether rules have judged all packets that the source gave; reports what they have not.
bool have_judged_all(const Losses &losses, bool is_quiet);
} // namespace sids
