// SPDX-License-Identifier: MIT
// conditions: flow, flowbits, threshold and detection_filter of Snort -> those of sids.
#pragma once

#include <string>

#include "option.hpp"

namespace snort2sids
{
// All throw Refusal.

// What "flow" asks for; Snort's words for one side have two names.
struct Flow {
    std::string state;            // "established", "not_established", "stateless" or empty
    std::string direction;        // "to_server", "to_client", "from_server", "from_client" or empty
    bool is_raw_only = false;     // no_stream or no_frag: packets as they were on the wire
    bool is_rebuilt_only = false; // only_stream
};
Flow read_flow(const Option &option);

struct Flowbits {
    std::string value; // "isset,name"
    bool is_test = false;
};
Flowbits read_flowbits(const Option &option);

std::string rate_value(const Option &option); // of threshold and detection_filter
} // namespace snort2sids
