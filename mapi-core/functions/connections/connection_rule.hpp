// SPDX-License-Identifier: MIT
// Connection rule: "established,to_server; isset:a; ssl_version:sslv3" -> whether a packet passes.
#pragma once

#include <string_view>
#include <vector>

#include "functions/connections/bit_steps.hpp"
#include "functions/connections/fact_tests.hpp"
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
    std::vector<FactTest> fact_tests;

    bool accepts(const Seen &seen) const;
    bool accepts(const Facts &facts) const;
};

// Throws TextError.
ConnectionRule read_connection_rule(std::string_view text, BitNames &names);
} // namespace mapi::connections
