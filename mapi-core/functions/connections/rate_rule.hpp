// SPDX-License-Identifier: MIT
// Rate rule: "threshold; type limit; track by_src; count 1; seconds 60" -> which of an address's
// packets pass, with the meaning of Snort's options threshold and detection_filter.
#pragma once

#include <cstdint>
#include <string_view>

namespace mapi::connections
{
struct RateRule {
    enum class Kind { kLimit, kThreshold, kBoth, kDetection };

    Kind kind = Kind::kLimit;
    bool is_by_source = true;
    uint32_t count = 0;
    uint32_t seconds = 0;
};

// Of one address; times are in whole seconds, as Snort counts them.
struct RateState {
    uint64_t begin_s = 0;
    uint64_t last_s = 0;
    uint64_t count = 0;
    uint64_t before = 0; // in the interval before this one

    // Whether the packet passes.
    bool take(const RateRule &rule, uint64_t now_s);
};

// Throws TextError.
RateRule read_rate_rule(std::string_view text);
} // namespace mapi::connections
