// SPDX-License-Identifier: MIT
// Neighbour options: the options of router and neighbour discovery (RFC 4861 4.6), one after
// another.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mapi::anonymize
{
enum NeighbourMessage : uint8_t {
    kRouterSolicitation = 133,
    kRouterAdvertisement = 134,
    kNeighbourSolicitation = 135,
    kNeighbourAdvertisement = 136,
    kRedirect = 137,
};

// Relative to the ICMPv6 message; 0: it has no options.
inline uint32_t neighbour_options_offset(uint8_t type)
{
    switch (type) {
    case kRouterSolicitation: return 8;
    case kRouterAdvertisement: return 16;
    case kNeighbourSolicitation:
    case kNeighbourAdvertisement: return 24;
    case kRedirect: return 40;
    default: return 0;
    }
}

// Calls back with type, offset and end of each; the last may be truncated.
template <class Callback>
void for_each_neighbour_option(const uint8_t *data, uint32_t message, uint32_t end,
                               const Callback &callback)
{
    const uint32_t first = message < end ? neighbour_options_offset(data[message]) : 0;
    if (first == 0)
        return;
    for (uint32_t at = message + first; at < end && end - at >= 2;) {
        const uint32_t bytes = data[at + 1] * 8u;
        if (bytes == 0)
            return;
        callback(data[at], at, std::min(end, at + bytes));
        at += bytes;
    }
}
} // namespace mapi::anonymize
