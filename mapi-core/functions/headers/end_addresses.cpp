// SPDX-License-Identifier: MIT
// End addresses: source routes of IPv4 (RFC 791 3.1), routing headers and the home address option
// of IPv6.
#include "headers/end_addresses.hpp"

#include <algorithm>

#include <netinet/in.h>

#include "headers/extensions.hpp"

namespace mapi::headers
{
namespace
{
constexpr uint32_t kIpv4Bytes = 20, kIpv6Bytes = 40, kAddressBytes = 16;
constexpr uint32_t kRoutingBytes = 8; // before the addresses
enum Ipv4Option : uint8_t { kLooseRoute = 131, kStrictRoute = 137 };
enum Ipv6Option : uint8_t { kPad = 0, kHomeAddress = 0xc9 };
enum RoutingType : uint8_t {
    kSourceRoute = 0,
    kHomeRoute = 2,
    kRplRoute = 3,
    kSegmentRoute = 4
}; // RFC 2460, 6275, 6554, 8754

// False if the route has hops left and does not say where it ends.
bool read_ipv4_route(const uint8_t *option, uint32_t bytes, uint8_t *destination)
{
    constexpr uint32_t kFirst = 4; // the smallest pointer; pointers count from 1
    const uint32_t pointer = bytes < 3 ? 0 : option[2];
    if (bytes >= 3 && pointer > bytes) // all hops have been passed
        return true;
    if (pointer < kFirst || bytes < kFirst + 3 || (bytes - 3) % 4 != 0)
        return false;
    std::copy_n(option + bytes - 4, 4, destination);
    return true;
}

// No router accepts malformed options, so they contain no route.
bool read_ipv4_options(const uint8_t *data, const IpLayer &layer, uint8_t *destination)
{
    bool is_known = true;
    for_each_ipv4_option(data, layer, [&](uint8_t kind, uint32_t at, uint32_t end) {
        const bool is_route = kind == kLooseRoute || kind == kStrictRoute;
        if (is_route)
            is_known = read_ipv4_route(data + at, end - at, destination);
        return !is_route;
    });
    return is_known;
}

// Addresses without the bytes that they share with the destination: all but the last are `inner`
// bytes long, the last one `last` bytes.
bool read_rpl_route(const uint8_t *header, uint32_t bytes, uint8_t *destination)
{
    const uint32_t inner = kAddressBytes - (header[4] >> 4),
                   last = kAddressBytes - (header[4] & 15u), padding = header[5] >> 4;
    const uint32_t route = bytes - kRoutingBytes;
    if (route < last + padding || (route - last - padding) % inner != 0 ||
        header[3] > (route - last - padding) / inner + 1)
        return false;
    std::copy_n(header + bytes - padding - last, last, destination + kAddressBytes - last);
    return true;
}

bool read_route(const uint8_t *header, uint32_t bytes, uint8_t *destination)
{
    const uint8_t type = header[2], hops_left = header[3];
    if (hops_left == 0)
        return true;
    const uint32_t addresses = (bytes - kRoutingBytes) / kAddressBytes;
    switch (type) {
    case kSourceRoute:
    case kHomeRoute:
        if (bytes % kAddressBytes != kRoutingBytes || hops_left > addresses ||
            (type == kHomeRoute && addresses != 1))
            return false;
        std::copy_n(header + bytes - kAddressBytes, kAddressBytes, destination);
        return true;
    case kSegmentRoute: // in reverse order, with or without the current destination
        if (header[4] >= addresses || hops_left > header[4] + 1u)
            return false;
        std::copy_n(header + kRoutingBytes, kAddressBytes, destination);
        return true;
    case kRplRoute: return read_rpl_route(header, bytes, destination);
    default: return false;
    }
}

void read_home_address(const uint8_t *data, uint32_t at, uint32_t end, uint8_t *source)
{
    for (at += 2; at < end;) {
        if (data[at] == kPad) {
            ++at;
            continue;
        }
        const uint32_t bytes = end - at < 2 ? 0 : data[at + 1] + 2u;
        if (bytes == 0 || bytes > end - at)
            return;
        if (data[at] == kHomeAddress && bytes == kAddressBytes + 2)
            std::copy_n(data + at + 2, kAddressBytes, source);
        at += bytes;
    }
}
} // namespace

std::optional<EndAddresses> end_addresses_of(const uint8_t *data, const IpLayer &layer) noexcept
{
    std::optional<EndAddresses> ends(std::in_place);
    const bool is_ipv4 = layer.version == 4;
    ends->each = is_ipv4 ? 4 : kAddressBytes;
    std::copy_n(data + layer.offset + (is_ipv4 ? 12 : 8), 2 * ends->each, ends->bytes.begin());
    if (layer.transport == layer.offset + (is_ipv4 ? kIpv4Bytes : kIpv6Bytes))
        return ends;
    uint8_t *const destination = ends->bytes.data() + ends->each;
    bool is_known = true;
    if (is_ipv4) {
        is_known = read_ipv4_options(data, layer, destination);
    } else {
        for_each_extension(data, layer, [&](uint8_t kind, uint32_t at, uint32_t end) {
            if (kind == IPPROTO_ROUTING) // a second one applies where the first one ends
                is_known = read_route(data + at, end - at, destination) && is_known;
            else if (kind == IPPROTO_DSTOPTS)
                read_home_address(data, at, end, ends->bytes.data());
        });
    }
    if (!is_known)
        ends.reset();
    return ends;
}
} // namespace mapi::headers
