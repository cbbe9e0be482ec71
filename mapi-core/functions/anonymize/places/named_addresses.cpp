// SPDX-License-Identifier: MIT
// Named addresses: addresses in headers other than source and destination: routes, and the subjects
// of ICMP messages.
#include "anonymize/places/named_addresses.hpp"

#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "anonymize/places/neighbour_options.hpp"
#include "headers/extensions.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kIpv4Bytes = 20;
enum Ipv4Option : uint8_t {
    kRecordRoute = 7,
    kTimestamp = 68,
    kLooseRoute = 131,
    kStrictRoute = 137
};
enum RoutingType : uint8_t { kSource = 0, kHome = 2, kSegments = 4 }; // RFC 2460, 6275, 8754
enum IcmpType : uint8_t {
    kIpv4Redirect = 5,
    kListenerQuery = 130,
    kListenerDone = 132,
    kListenerReport2 = 143
};
enum NeighbourOption : uint8_t { kPrefix = 3, kNameServers = 25 };

void add_each(Places &places, uint32_t first, uint32_t step, uint32_t bytes, uint32_t end)
{
    for (uint32_t at = first; at < end; at += step)
        add_fixed(places, at, bytes, end);
}

// RFC 791 3.1
void add_ipv4_option(const uint8_t *data, uint32_t at, uint32_t end, Places &places)
{
    switch (data[at]) {
    case kRecordRoute:
    case kLooseRoute:
    case kStrictRoute: add_each(places, at + 3, 4, 4, end); break;
    case kTimestamp:
        if (end - at > 4 &&
            (data[at + 3] & 15) != 0) // each timestamp has the address of its recorder
            add_each(places, at + 4, 8, 4, end);
        break;
    default: break;
    }
}

void add_ipv4_options(const uint8_t *data, const IpLayer &layer, Places &places)
{
    headers::for_each_ipv4_option(data, layer, [&](uint8_t, uint32_t at, uint32_t end) {
        add_ipv4_option(data, at, end, places);
        return true;
    });
}

void add_routing_header(const uint8_t *data, uint32_t at, uint32_t end, Places &places)
{
    const uint8_t type = data[at + 2];
    if (type != kSource && type != kHome && type != kSegments)
        return;
    const uint32_t there = data[at + 1] / 2u;
    const uint32_t addresses = type == kSegments ? std::min(there, data[at + 4] + 1u) : there;
    add_each(places, at + 8, 16, 16, std::min(end, at + 8 + addresses * 16));
}

void add_ipv6_routes(const uint8_t *data, const IpLayer &layer, Places &places)
{
    headers::for_each_extension(data, layer, [&](uint8_t kind, uint32_t at, uint32_t end) {
        if (kind == IPPROTO_ROUTING)
            add_routing_header(data, at, end, places);
    });
}

// RFC 3810 5.2: groups, each with sources.
void add_listener_report(const uint8_t *data, uint32_t message, uint32_t end, Places &places)
{
    for (uint32_t at = message + 8; at < end;) {
        const uint32_t sources = end - at < 4 ? 0 : half_at(data + at + 2);
        const uint32_t more = end - at < 4 ? 0 : data[at + 1] * 4u;
        add_each(places, at + 4, 16, 16, std::min(end, at + 20 + sources * 16));
        at += 20 + sources * 16 + more;
    }
}

void add_icmpv6(const uint8_t *data, uint32_t message, uint32_t end, Places &places)
{
    const uint8_t type = data[message];
    if (type == kNeighbourSolicitation || (type >= kListenerQuery && type <= kListenerDone)) {
        add_fixed(places, message + 8, 16, end);
    } else if (type == kRedirect) {
        add_fixed(places, message + 8, 16, end);
        add_fixed(places, message + 24, 16, end);
    } else if (type == kListenerReport2) {
        add_listener_report(data, message, end, places);
    }
    for_each_neighbour_option(data, message, end,
                              [&](uint8_t option, uint32_t at, uint32_t option_end) {
                                  if (option == kPrefix)
                                      add_fixed(places, at + 16, 16, option_end);
                                  else if (option == kNameServers)
                                      add_each(places, at + 8, 16, 16, option_end);
                              });
}

void add_icmp(const uint8_t *data, const IpLayer &layer, Places &places)
{
    if (layer.is_later_fragment || layer.end == layer.transport)
        return;
    if (layer.protocol == IPPROTO_ICMPV6)
        add_icmpv6(data, layer.transport, layer.end, places);
    else if (layer.protocol == IPPROTO_ICMP && data[layer.transport] == kIpv4Redirect)
        add_fixed(places, layer.transport + 4, 4, layer.end);
}
} // namespace

void find_named_addresses(Field field, const mapi_packet &packet, const Layers &layers,
                          Places &places)
{
    for (const IpLayer &layer : layers.all()) {
        if (field == Field::kSourceAddress) { // the responding node corresponds to ARP's sender
            const bool is_icmp = layer.protocol == IPPROTO_ICMPV6 && !layer.is_later_fragment &&
                                 layer.end > layer.transport;
            if (is_icmp && packet.data[layer.transport] == kNeighbourAdvertisement)
                add_fixed(places, layer.transport + 8, 16, layer.end);
            continue;
        }
        if (layer.version == 4)
            add_ipv4_options(packet.data, layer, places);
        else
            add_ipv6_routes(packet.data, layer, places);
        add_icmp(packet.data, layer, places);
    }
}
} // namespace mapi::anonymize
