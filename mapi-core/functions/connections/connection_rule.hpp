// SPDX-License-Identifier: MIT
// Connection rule: "established,to_server; isset:a" -> whether a packet passes.
#pragma once

#include <string_view>
#include <vector>

#include "functions/connections/bit_steps.hpp"
#include "functions/connections/tracker.hpp"

namespace mapi::connections
{
struct ConnectionRule {
    bool is_established = false;
    bool is_not_established = false;
    bool is_to_server = false;
    bool is_to_client = false;
    bool takes_midstream = false;
    std::vector<BitStep> tests;

    bool accepts(const Seen &seen) const;
};

// Throws TextError.
ConnectionRule read_connection_rule(std::string_view text, BitNames &names);
} // namespace mapi::connections
