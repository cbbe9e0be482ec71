// SPDX-License-Identifier: MIT
// UDP tunnels: their headers, which the capture may truncate.
#include "anonymize/places/udp_tunnels.hpp"

#include <algorithm>

#include <net/ethernet.h>
#include <netinet/in.h>

#include "anonymize/bytes.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kUdpBytes = 8;
constexpr uint32_t kTunnelBytes = 8; // VXLAN's, and the minimum of Geneve's and GTP-U's
constexpr uint16_t kBridge = 0x6558; // transparent Ethernet bridging
enum LinkType : uint16_t { kEthernet = 1, kPpp = 9, kRaw = 101 };
enum Port : uint16_t {
    kL2tp = 1701,
    kGtp = 2152,
    kTeredo = 3544,
    kVxlan = 4789,
    kGeneve = 6081,
    kVxlanOfLinux = 8472
};

// The datagram's bytes; bytes beyond the end read as zero.
struct Payload {
    const uint8_t *data;
    uint32_t begin, end;

    uint8_t byte(uint32_t offset) const
    {
        return begin + offset < end ? data[begin + offset] : uint8_t(0);
    }
    uint16_t half(uint32_t offset) const { return uint16_t(byte(offset) << 8 | byte(offset + 1)); }
    Inner at(uint32_t offset, uint16_t link_type) const
    {
        return {begin + std::min(offset, end - begin), link_type};
    }
};

Inner in_geneve(const Payload &payload)
{
    const uint32_t bytes = kTunnelBytes + (payload.byte(0) & 0x3fu) * 4;
    return payload.at(bytes, payload.half(2) == kBridge ? kEthernet : kRaw);
}

std::optional<Inner> in_gtp(const Payload &payload)
{
    constexpr uint8_t kUserData = 255;
    const uint8_t flags = payload.byte(0);
    if (flags >> 5 != 1 || payload.byte(1) != kUserData)
        return std::nullopt;
    uint32_t bytes = kTunnelBytes;
    if (flags & 7) { // sequence number, N-PDU number and next extension type
        bytes += 4;
        for (uint8_t next = payload.byte(bytes - 1); next != 0 && payload.byte(bytes) != 0;
             next = payload.byte(bytes - 1))
            bytes += payload.byte(bytes) * 4u;
    }
    return payload.at(bytes, kRaw);
}

// After the authentication and origin indications.
Inner in_teredo(const Payload &payload)
{
    constexpr uint16_t kAuthentication = 1, kOrigin = 0;
    uint32_t bytes = 0;
    if (payload.half(0) == kAuthentication)
        bytes = 13u + payload.byte(2) + payload.byte(3);
    if (payload.half(bytes) == kOrigin)
        bytes += 8;
    return payload.at(bytes, kRaw);
}

std::optional<Inner> in_l2tp(const Payload &payload)
{
    enum Flag : uint16_t {
        kControl = 0x8000,
        kLength = 0x4000,
        kSequence = 0x0800,
        kOffset = 0x0200
    };
    const uint16_t flags = payload.half(0);
    if (flags & kControl || (flags & 15) != 2)
        return std::nullopt;
    uint32_t bytes = 6u + (flags & kLength ? 2 : 0) + (flags & kSequence ? 4 : 0);
    if (flags & kOffset)
        bytes += 2u + payload.half(bytes);
    return payload.at(bytes, kPpp);
}

bool has_payload(const headers::IpLayer &layer)
{
    return layer.protocol == IPPROTO_UDP && !layer.is_later_fragment &&
           layer.end - layer.transport > kUdpBytes;
}

// On either side, since replies come from the port.
bool has_port(const uint8_t *data, const headers::IpLayer &layer, uint16_t port)
{
    return half_at(data + layer.transport) == port || half_at(data + layer.transport + 2) == port;
}
} // namespace

std::optional<Inner> inner_of_udp(const uint8_t *data, const headers::IpLayer &layer)
{
    if (!has_payload(layer))
        return std::nullopt;
    const Payload payload{data, layer.transport + kUdpBytes, layer.end};
    const auto is_of = [&](uint16_t port) { return has_port(data, layer, port); };
    if (is_of(kVxlan) || is_of(kVxlanOfLinux))
        return payload.at(kTunnelBytes, kEthernet);
    if (is_of(kGeneve))
        return in_geneve(payload);
    if (is_of(kGtp))
        return in_gtp(payload);
    if (is_of(kTeredo))
        return in_teredo(payload);
    if (is_of(kL2tp))
        return in_l2tp(payload);
    return std::nullopt;
}

bool is_unknown_udp_tunnel(const uint8_t *data, const headers::IpLayer &layer)
{
    static constexpr uint16_t kPorts[] = {4341, 4342, 4790, 5072, 6343, 6635};
    return has_payload(layer) &&
           std::ranges::any_of(kPorts, [&](uint16_t port) { return has_port(data, layer, port); });
}
} // namespace mapi::anonymize
