// SPDX-License-Identifier: MIT
// Cooked header: the kernel's metadata of a packet of any interface -> a LINKTYPE_LINUX_SLL2 header
// in front of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_packet.h>

#include <mapi/packet.h>

namespace mapi::drivers
{
constexpr uint16_t kCookedLinkType = 276; // LINKTYPE_LINUX_SLL2

struct CookedHeader {
    uint16_t protocol; // this and the following are big-endian
    uint16_t reserved;
    uint32_t interface_index;
    uint16_t hardware_type;
    uint8_t packet_type;
    uint8_t address_bytes;
    uint8_t address[8];
};
static_assert(sizeof(CookedHeader) == 20);

// Writes the header into the room in front of the packet.
inline void put_cooked_header(mapi_packet &packet, uint8_t *data, const sockaddr_ll &from)
{
    CookedHeader header = {from.sll_protocol,
                           0,
                           htonl(uint32_t(from.sll_ifindex)),
                           htons(from.sll_hatype),
                           from.sll_pkttype,
                           from.sll_halen,
                           {}};
    memcpy(header.address, from.sll_addr, sizeof(header.address));
    uint8_t *const start = data - sizeof(header);
    memcpy(start, &header, sizeof(header));
    packet.data = start;
    packet.caplen += uint32_t(sizeof(header));
    packet.wire_len += uint32_t(sizeof(header));
    packet.ifindex = uint16_t(std::min(from.sll_ifindex, int(UINT16_MAX)));
}
} // namespace mapi::drivers
