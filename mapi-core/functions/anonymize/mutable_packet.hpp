// SPDX-License-Identifier: MIT
// Mutable packet: a packet in private memory, which may shrink, and grow while there is room.
#pragma once

#include <cstdint>

#include <mapi/packet.h>

namespace mapi::anonymize
{
struct MutablePacket {
    uint8_t *data = nullptr;
    uint32_t caplen = 0;   // bytes present
    uint32_t wire_len = 0; // frame length on the wire
    uint32_t room = 0;     // capacity
    uint16_t link_type = 0;

    mapi_packet view() const
    {
        mapi_packet packet{};
        packet.data = data;
        packet.caplen = caplen;
        packet.wire_len = wire_len;
        packet.link_type = link_type;
        return packet;
    }
};
} // namespace mapi::anonymize
