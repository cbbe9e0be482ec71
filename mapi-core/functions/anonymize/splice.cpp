// SPDX-License-Identifier: MIT
// Splice: moves what follows, then updates every enclosing layer.
#include "anonymize/splice.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>

#include "anonymize/bytes.hpp"

namespace mapi::anonymize
{
namespace
{
constexpr uint32_t kUdpBytes = 8;

bool lies_in(const IpLayer &layer, uint32_t offset, uint32_t bytes)
{
    return offset > layer.offset && offset + bytes <= layer.end;
}

// Zero is not a length: network card offload, or a jumbogram.
bool changes_length(uint16_t reported)
{
    return reported != 0;
}

uint8_t *length_field(uint8_t *data, const IpLayer &layer)
{
    return data + layer.offset + (layer.version == 4 ? 2 : 4);
}

uint8_t *udp_length_field(uint8_t *data, const IpLayer &layer, uint32_t offset)
{
    const bool is_behind = layer.protocol == IPPROTO_UDP && !layer.is_later_fragment &&
                           offset >= layer.transport + kUdpBytes;
    return is_behind ? data + layer.transport + 4 : nullptr;
}

bool fits(const MutablePacket &packet, const Layers &layers, uint32_t offset, uint32_t old_bytes,
          int64_t shift)
{
    if (int64_t(packet.caplen) + shift > int64_t(packet.room))
        return false;
    return std::ranges::all_of(layers.all(), [&](const IpLayer &layer) {
        const int64_t reported = half_at(length_field(packet.data, layer));
        return !lies_in(layer, offset, old_bytes) || reported == 0 ||
               (reported + shift > 0 && reported + shift <= UINT16_MAX);
    });
}

void tell(uint8_t *data, const IpLayer &layer, uint32_t offset, int64_t shift)
{
    uint8_t *field = length_field(data, layer);
    if (changes_length(half_at(field)))
        put_half(field, uint32_t(half_at(field) + shift));
    uint8_t *udp = udp_length_field(data, layer, offset);
    if (udp && half_at(udp) + shift >= int64_t(kUdpBytes) && half_at(udp) + shift <= UINT16_MAX)
        put_half(udp, uint32_t(half_at(udp) + shift));
}

uint32_t shifted(uint32_t offset, int64_t shift)
{
    return uint32_t(int64_t(offset) + shift);
}
} // namespace

bool splice(MutablePacket &packet, Layers &layers, uint32_t offset, uint32_t old_bytes,
            std::span<const uint8_t> bytes) noexcept
{
    const int64_t shift = int64_t(bytes.size()) - int64_t(old_bytes);
    if (!fits(packet, layers, offset, old_bytes, shift))
        return false;
    const uint32_t behind = offset + old_bytes;
    for (unsigned i = 0; i < layers.count; ++i)
        if (shift != 0 && lies_in(layers.ip[i], offset, old_bytes))
            tell(packet.data, layers.ip[i], offset, shift);
    std::memmove(packet.data + offset + bytes.size(), packet.data + behind, packet.caplen - behind);
    if (!bytes.empty())
        std::memcpy(packet.data + offset, bytes.data(), bytes.size());
    for (unsigned i = 0; i < layers.count; ++i) {
        IpLayer &layer = layers.ip[i];
        for (uint32_t *place : {&layer.offset, &layer.transport, &layer.end})
            *place = *place >= behind ? shifted(*place, shift) : *place;
    }
    packet.caplen = shifted(packet.caplen, shift);
    packet.wire_len =
        std::max(packet.caplen, uint32_t(std::max<int64_t>(0, int64_t(packet.wire_len) + shift)));
    return true;
}
} // namespace mapi::anonymize
