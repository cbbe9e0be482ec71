// SPDX-License-Identifier: MIT
// Layers: the walk of headers/, repeated in every packet that ICMP quotes or UDP carries.
#include "anonymize/places/layers.hpp"

#include <algorithm>

#include <net/ethernet.h>
#include <netinet/in.h>

#include "anonymize/bytes.hpp"
#include "anonymize/places/neighbour_options.hpp"
#include "anonymize/places/udp_tunnels.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kIcmpBytes = 8;
constexpr uint32_t kUdpBytes = 8;
constexpr uint16_t kLinkRaw = 101; // LINKTYPE_RAW: begins with an IP header
constexpr uint8_t kMplsInIp = 137;
// Headers of tunnels and quoted packets end before this offset from the datagram's first byte.
constexpr uint32_t kHeadersEndBytes = 256;

void lose(Layers &layers, uint32_t offset)
{
    layers.lost = std::min(layers.lost.value_or(offset), offset);
}

// RFC 792, RFC 4443 2.1
bool quotes_a_packet(const IpLayer &layer, uint8_t type)
{
    if (layer.protocol == IPPROTO_ICMP)
        return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
    return layer.protocol == IPPROTO_ICMPV6 && type >= 1 && type < 128;
}

// In bytes, for a later fragment.
uint32_t fragment_offset(const uint8_t *data, const IpLayer &layer)
{
    if (layer.version == 4)
        return (half_at(data + layer.offset + 6) & 0x1fffu) * 8;
    return half_at(data + layer.transport - 6) &
           0xfff8u; // the fragment header is the last one walked
}

// A fragment may begin in the middle of a header that started in another fragment.
bool may_hide_headers(const uint8_t *data, const IpLayer &layer)
{
    switch (layer.protocol) {
    case IPPROTO_IPIP:
    case IPPROTO_IPV6:
    case IPPROTO_GRE:
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
    case kMplsInIp:
        return layer.end > layer.transport && fragment_offset(data, layer) < kHeadersEndBytes;
    default: return false;
    }
}

// Protocols that carry packets which cannot be parsed here: minimal encapsulation, the older IP in
// IP, Ethernet in IP, compressed, L2TP version 3.
bool is_unknown_tunnel(const IpLayer &layer)
{
    switch (layer.protocol) {
    case 55:
    case 94:
    case 97:
    case 108:
    case 115: return true;
    default: return false;
    }
}

void add(Layers &layers, const headers::Headers &found, uint32_t base)
{
    for (unsigned i = 0; i < found.ip_layers; ++i) {
        if (layers.count == kLayersMax) {
            lose(layers, base + found.ip[i].offset);
            return;
        }
        IpLayer &layer = layers.ip[layers.count++] = found.ip[i];
        layer.offset += base;
        layer.transport += base;
        layer.end += base;
        layer.fragment += layer.fragment ? base : 0;
    }
    if (found.is_lost)
        lose(layers, base + found.rest);
    if (found.rest_ethertype == ETHERTYPE_ARP || found.rest_ethertype == ETHERTYPE_REVARP)
        layers.arp = base + found.rest;
}

void add_inner(const mapi_packet &packet, Layers &layers, uint32_t offset, uint32_t end,
               uint16_t link_type)
{
    if (offset >= end)
        return;
    mapi_packet view{};
    view.data = packet.data + offset;
    view.caplen = end - offset;
    view.wire_len = view.caplen + (end == packet.caplen ? packet.wire_len - packet.caplen : 0);
    view.link_type = link_type;
    add(layers, headers::parse(view), offset);
}

// Errors quote what follows their header, IPv6 redirects the contents of an option (RFC 4861
// 4.6.3).
void look_into(const mapi_packet &packet, Layers &layers, const IpLayer &layer)
{
    constexpr uint8_t kRedirectedHeader = 4;
    if (layer.transport >= layer.end)
        return;
    if (is_unknown_tunnel(layer)) {
        lose(layers, layer.transport);
        return;
    }
    if (is_unknown_udp_tunnel(packet.data, layer)) {
        lose(layers, layer.transport + kUdpBytes);
        return;
    }
    if (quotes_a_packet(layer, packet.data[layer.transport]))
        add_inner(packet, layers, layer.transport + kIcmpBytes, layer.end, kLinkRaw);
    else if (layer.protocol == IPPROTO_ICMPV6)
        for_each_neighbour_option(packet.data, layer.transport, layer.end,
                                  [&](uint8_t option, uint32_t at, uint32_t end) {
                                      if (option == kRedirectedHeader)
                                          add_inner(packet, layers, at + 8, end, kLinkRaw);
                                  });
    else if (const auto inner = inner_of_udp(packet.data, layer))
        add_inner(packet, layers, inner->offset, layer.end, inner->link_type);
}
} // namespace

Layers find_layers(const mapi_packet &packet) noexcept
{
    Layers layers;
    add(layers, headers::parse(packet), 0);
    for (unsigned i = 0; i < layers.count; ++i) { // the count grows in the loop
        const IpLayer layer = layers.ip[i];
        if (!layer.is_later_fragment)
            look_into(packet, layers, layer);
        else if (may_hide_headers(packet.data, layer))
            lose(layers, layer.transport);
    }
    if (layers.lost && *layers.lost >= packet.caplen)
        layers.lost.reset();
    return layers;
}
} // namespace mapi::anonymize
