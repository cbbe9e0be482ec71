// SPDX-License-Identifier: MIT
// convert: a rule of Snort 2 -> a rule of sids, or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "body/option.hpp"
#include "header/header.hpp"

namespace snort2sids
{
struct Settings {
    bool copies = false;     // copy instead of count
    bool cooks = false;      // rules about established connections inspect streams
    bool sees_vlans = false; // packets with VLAN tags, too
};

struct Identity {
    uint32_t generator = 1;
    uint32_t number = 0; // 0: the rule has none
    bool operator<(const Identity &other) const
    {
        return generator != other.generator ? generator < other.generator : number < other.number;
    }
};

struct Conversion {
    std::string rule;            // a line, without its end
    std::set<std::string> notes; // what is not done, though the rule matches the same packets
};

// Values that cannot be read count as missing.
Identity identity_of(const std::vector<Option> &options);
// `action` is one of Snort's own.  Throws Refusal, with an offset in the rule's text.
Conversion convert(const Header &header, const std::string &action,
                   const std::vector<Option> &options, const Settings &settings);
} // namespace snort2sids
