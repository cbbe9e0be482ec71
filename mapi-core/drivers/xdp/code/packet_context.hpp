// SPDX-License-Identifier: MIT
// What a program gets of a packet, and what it returns: struct xdp_md of an incoming packet, struct
// __sk_buff of an outgoing one.
#pragma once

#include <cstdint>

#include "drivers/xdp/layout.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
struct PacketContext {
    int16_t data, data_end;       // where it has the ends of the packet's first piece
    match::EbpfHelper load_bytes; // (context, offset, to, bytes), from all pieces
    int32_t passes;               // the packet
};

constexpr PacketContext context_of(Direction direction)
{
    if (direction == Direction::kOutgoing)
        return {match::kSkbData, match::kSkbDataEnd, match::EbpfHelper::kSkbLoadBytes,
                match::kTcxNext};
    return {match::kXdpData, match::kXdpDataEnd, match::EbpfHelper::kXdpLoadBytes, match::kXdpPass};
}

// Of the packet whose context is in r1, leaves the length in r0.  Changes r1 to r5.
inline void emit_packet_length(Direction direction, match::EbpfCode &code)
{
    if (direction == Direction::kOutgoing)
        code.load(4, match::EbpfRegister::r0, match::EbpfRegister::r1, match::kSkbLength);
    else
        code.call(match::EbpfHelper::kXdpGetBuffLen);
}
} // namespace mapi::drivers::xdp
