// SPDX-License-Identifier: MIT
// Packet block: one block of the kernel's buffer -> packet views, with VLAN tags restored.
#pragma once

#include <cstdint>

#include <linux/if_packet.h>

#include <mapi/packet.h>

namespace mapi::drivers
{
// Reads a TPACKET_V3 block once, front to back.
class PacketBlock
{
public:
    PacketBlock() = default;
    explicit PacketBlock(tpacket_block_desc *block);

    tpacket_block_desc *block() const { return block_; }
    bool is_empty() const { return left_ == 0; }
    struct View {
        uint16_t link_type;
        uint32_t snaplen;
        int loopback; // the index of that interface, where each packet comes twice, out and in: the
                      // outgoing copy is skipped
    };
    // The next packets of the block, at most `limit`.
    uint32_t take(mapi_packet *packets, uint32_t limit, const View &view);

private:
    tpacket_block_desc *block_ = nullptr;
    uint8_t *next_ = nullptr;
    uint32_t left_ = 0;
};
} // namespace mapi::drivers
