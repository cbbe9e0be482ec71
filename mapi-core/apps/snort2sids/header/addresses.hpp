// SPDX-License-Identifier: MIT
// addresses: "any", "10.0.0.0/8", "!2001:db8::/32", "[10.0.0.0/8,!10.1.0.0/16]" -> those meant.
#pragma once

#include <cstdint>
#include <string_view>

#include "interval_set.hpp"

namespace snort2sids
{
__extension__ using Ipv6 = unsigned __int128;

struct AddressSet {
    IntervalSet<uint32_t> ipv4;
    IntervalSet<Ipv6> ipv6;

    bool is_any() const { return ipv4.is_full() && ipv6.is_full(); }
    bool operator==(const AddressSet &other) const
    {
        return ipv4 == other.ipv4 && ipv6 == other.ipv6;
    }
};

// Variables are already replaced.  As in Snort, a list of negated addresses alone means all others,
// of both versions of IP.  Throws Malformed.
AddressSet read_addresses(std::string_view text);
} // namespace snort2sids
