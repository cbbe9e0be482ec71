// SPDX-License-Identifier: MIT
// IPv4 (RFC 791) and IPv6 with its extension headers (RFC 8200) -> a layer.
#include <algorithm>

#include <net/ethernet.h>
#include <netinet/in.h>

#include "headers/internet_sum.hpp"
#include "headers/walk.hpp"

namespace mapi::headers
{
namespace
{
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kFrameCheckBytes = 4;
constexpr uint32_t kShortestFrameBytes = 68; // of Ethernet, with a pseudowire's control word
constexpr uint16_t kMoreFragments = 0x2000;
constexpr uint16_t kFragmentOffset = 0x1fff;
enum Extension : uint8_t { kMobility = 135, kHostIdentity = 139, kShim6 = 140 };

// Network card offload leaves zero for lengths above 64 KiB: then the datagram extends to the end
// of the capture.
uint32_t end_of(const Walk &walk, uint32_t bytes)
{
    return bytes == 0 ? walk.caplen : walk.at + std::min(bytes, walk.caplen - walk.at);
}

bool read_ipv4(const Walk &walk, IpLayer &layer)
{
    if (!walk.has(kIpv4Bytes))
        return false;
    const uint32_t header_bytes = (walk.byte(0) & 15u) * 4;
    const uint32_t total_bytes = walk.half(2);
    const uint16_t fragment = walk.half(6);
    if (header_bytes < kIpv4Bytes || !walk.has(header_bytes) ||
        (total_bytes && total_bytes < header_bytes))
        return false;
    layer.version = 4;
    layer.protocol = walk.byte(9);
    layer.transport = walk.at + header_bytes;
    layer.end = end_of(walk, total_bytes);
    layer.is_fragment = fragment & (kMoreFragments | kFragmentOffset);
    layer.is_later_fragment = fragment & kFragmentOffset;
    return true;
}

// The length of the extension header at `at`, of which at least 8 bytes are present; 0 if it is
// none.
uint32_t extension_bytes(const IpLayer &layer, const uint8_t *at)
{
    if (layer.protocol == IPPROTO_AH)
        return (at[1] + 2u) * 4; // RFC 4302 2.2
    if (layer.version == 4)
        return 0;
    switch (layer.protocol) {
    case IPPROTO_HOPOPTS:
    case IPPROTO_ROUTING:
    case IPPROTO_DSTOPTS:
    case kMobility:
    case kHostIdentity:
    case kShim6: return (at[1] + 1u) * 8;
    case IPPROTO_FRAGMENT: return 8;
    default: return 0;
    }
}

void read_fragment(const uint8_t *at, IpLayer &layer)
{
    const uint32_t offset_and_more = uint32_t(at[2]) << 8 | at[3];
    layer.is_fragment |=
        (offset_and_more & 0xfff9) != 0; // an atomic fragment is not a fragment (RFC 6946)
    layer.is_later_fragment |= (offset_and_more & 0xfff8) != 0;
}

// Skips extension headers; stops at the first that is truncated or does not belong to the layer, as
// in a later fragment.
void skip_extensions(const Walk &walk, IpLayer &layer)
{
    while (layer.end - layer.transport >= 8 && !layer.is_later_fragment) {
        const uint8_t *at = walk.data + layer.transport;
        const uint32_t bytes = extension_bytes(layer, at);
        if (bytes == 0 || bytes > layer.end - layer.transport)
            return;
        if (layer.protocol == IPPROTO_FRAGMENT) {
            layer.fragment = layer.transport;
            read_fragment(at, layer);
        }
        layer.protocol = at[0];
        layer.transport += bytes;
    }
}

bool read_ipv6(const Walk &walk, IpLayer &layer)
{
    if (!walk.has(kIpv6Bytes))
        return false;
    const uint32_t payload_bytes = walk.half(4);
    layer.version = 6;
    layer.protocol = walk.byte(6);
    layer.transport = walk.at + kIpv6Bytes;
    layer.end = end_of(walk, payload_bytes ? kIpv6Bytes + payload_bytes : 0);
    return true;
}

// The end according to its length field, even if truncated; 0 if the field is zero.
uint32_t reported_end(const Walk &walk, unsigned version)
{
    const uint32_t bytes = walk.half(version == 4 ? 2 : 4);
    return bytes == 0 ? 0 : walk.at + bytes + (version == 4 ? 0 : kIpv6Bytes);
}

// A frame check sequence may follow a datagram, and padding up to the minimum frame length.
bool ends_frame(const Walk &walk, uint32_t end)
{
    const uint32_t behind = walk.wire_end - end;
    return end <= walk.wire_end && (behind == 0 || behind == kFrameCheckBytes ||
                                    walk.wire_end - walk.guess <= kShortestFrameBytes);
}

// Verifies a guess that this is IP.  The checksum alone is not sufficient, because ANONYMIZE leaves
// it unchanged.
bool is_shown(const Walk &walk, const IpLayer &layer)
{
    return ends_frame(walk, reported_end(walk, layer.version)) ||
           (layer.version == 4 &&
            folded(sum_of(walk.data + layer.offset, layer.transport - layer.offset)) == 0);
}
} // namespace

void step_ip(Walk &walk, Headers &headers)
{
    const unsigned version = walk.has(1) ? walk.byte(0) >> 4 : 0;
    IpLayer layer;
    layer.offset = walk.at;
    const bool is_read =
        headers.ip_layers < kIpLayersMax &&
        (version == 4 ? read_ipv4(walk, layer) : version == 6 && read_ipv6(walk, layer));
    if (!is_read || (walk.guess != 0 && !is_shown(walk, layer))) {
        walk.lose();
        return;
    }
    walk.confirm();
    skip_extensions(walk, layer);
    if (headers.ip_layers == 0) {
        headers.network = layer.offset;
        headers.ethertype = version == 4 ? ETHERTYPE_IP : ETHERTYPE_IPV6;
    }
    headers.ip[headers.ip_layers++] = layer;
    walk.caplen = layer.end; // what follows is not part of the payload
    if (const uint32_t end = reported_end(walk, version); end >= layer.transport)
        walk.wire_end = std::min(walk.wire_end, end);
    walk.at = layer.transport;
    walk.next = layer.is_later_fragment ? Next::kEnd : Next::kIpPayload;
}
} // namespace mapi::headers
