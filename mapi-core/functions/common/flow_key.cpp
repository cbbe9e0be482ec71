// SPDX-License-Identifier: MIT
// Flow key: the end with the lower address, or port, comes first.
#include "functions/common/flow_key.hpp"

#include <algorithm>
#include <utility>

namespace mapi::functions
{
FlowKey flow_key(const mapi_packet &packet, const headers::IpLayer &ip) noexcept
{
    FlowKey key;
    std::ranges::copy(headers::source_of(packet, ip), key.lower.begin());
    std::ranges::copy(headers::destination_of(packet, ip), key.upper.begin());
    if (const auto ports = headers::ports_of(packet, ip)) {
        key.lower_port = ports->source;
        key.upper_port = ports->destination;
    }
    key.protocol = ip.protocol;
    key.version = ip.version;
    if (std::pair(key.upper, key.upper_port) < std::pair(key.lower, key.lower_port)) {
        std::swap(key.lower, key.upper);
        std::swap(key.lower_port, key.upper_port);
    }
    return key;
}
} // namespace mapi::functions
