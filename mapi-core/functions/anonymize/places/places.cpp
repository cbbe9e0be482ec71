// SPDX-License-Identifier: MIT
// Places: selects the part of the vocabulary that finds a field, and in which packets.
#include "anonymize/places/places.hpp"

#include <algorithm>

#include <netinet/in.h>

namespace mapi::anonymize
{
namespace
{
bool is_of(Protocol protocol, const mapi_packet &packet, const IpLayer &layer)
{
    switch (protocol) {
    case Protocol::kIp: return true;
    case Protocol::kTcp: return layer.protocol == IPPROTO_TCP;
    case Protocol::kUdp: return layer.protocol == IPPROTO_UDP;
    case Protocol::kIcmp: return layer.protocol == IPPROTO_ICMP || layer.protocol == IPPROTO_ICMPV6;
    case Protocol::kHttp: return http_start(packet, layer) != HttpStart::kNone;
    case Protocol::kFtp: return ftp_direction(packet, layer) >= 0;
    }
    return false;
}

uint32_t offset_in(const mapi_packet &packet, std::span<const uint8_t> text)
{
    return uint32_t(text.data() - packet.data);
}

void find_http(Field field, const mapi_packet &packet, const Layers &layers, Places &places)
{
    for (const IpLayer &layer : layers.all()) {
        const auto text = tcp_text(packet, layer);
        if (const HttpStart start = http_start(packet, layer); start != HttpStart::kNone)
            find_http_places(field, text, offset_in(packet, text), start, places);
    }
}

void find_ftp(Field field, const mapi_packet &packet, const Layers &layers, Places &places)
{
    for (const IpLayer &layer : layers.all()) {
        const int direction = ftp_direction(packet, layer);
        const auto text = tcp_text(packet, layer);
        if (direction < 0 || text.empty())
            continue;
        const uint32_t offset = offset_in(packet, text);
        if (field == Field::kPayload)
            add_text(places, offset, offset + uint32_t(text.size()));
        else
            find_ftp_places(field, text, offset, direction == 1, places);
    }
}
} // namespace

bool has_protocol(Protocol protocol, const mapi_packet &packet, const Layers &layers)
{
    if (protocol == Protocol::kIp)
        return layers.count > 0 || layers.arp;
    return std::ranges::any_of(
        layers.all(), [&](const IpLayer &layer) { return is_of(protocol, packet, layer); });
}

void find_places(const Rule &rule, const mapi_packet &packet, const Layers &layers, Places &places)
{
    places.clear();
    const Group group = group_of(rule.field);
    const bool is_text_protocol =
        rule.protocol == Protocol::kHttp || rule.protocol == Protocol::kFtp;
    if (!has_protocol(rule.protocol, packet, layers))
        return;
    if (group == Group::kIp || rule.protocol == Protocol::kIp)
        find_ip_places(rule.field, packet, layers, places);
    else if (group == Group::kHttp ||
             (group == Group::kPayload && rule.protocol == Protocol::kHttp))
        find_http(rule.field, packet, layers, places);
    else if (group == Group::kFtp || (group == Group::kPayload && rule.protocol == Protocol::kFtp))
        find_ftp(rule.field, packet, layers, places);
    else
        find_transport_places(is_text_protocol ? Protocol::kTcp : rule.protocol, rule.field, packet,
                              layers, places);
}

void add_fixed(Places &places, uint32_t offset, uint32_t bytes, uint32_t end)
{
    if (offset >= end)
        return;
    Place place;
    place.offset = offset;
    place.bytes = std::min(bytes, end - offset);
    place.is_cut = place.bytes < bytes;
    places.push_back(place);
}

void add_text(Places &places, uint32_t offset, uint32_t end, Shape shape)
{
    if (offset >= end || (!places.empty() && offset < places.back().offset + places.back().bytes))
        return;
    Place place;
    place.offset = place.line_offset = offset;
    place.bytes = place.line_bytes = end - offset;
    place.shape = shape;
    places.push_back(place);
}
} // namespace mapi::anonymize
