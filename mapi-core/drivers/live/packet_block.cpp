// SPDX-License-Identifier: MIT
// Packet block: one block of the kernel's buffer -> packet views.
#include "drivers/live/packet_block.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/live/cooked_header.hpp"
#include "drivers/live/packet_socket.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;
constexpr size_t kAddressBytes = 12;

// Writes into the room that the socket reserves in front of each packet.
void restore_vlan_tag(mapi_packet &packet, uint8_t *data, const tpacket3_hdr &header)
{
    const uint16_t type =
        header.tp_status & TP_STATUS_VLAN_TPID_VALID ? header.hv1.tp_vlan_tpid : 0x8100;
    const auto tag = uint16_t(header.hv1.tp_vlan_tci);
    const uint8_t bytes[PacketSocket::kVlanTagBytes] = {uint8_t(type >> 8), uint8_t(type),
                                                        uint8_t(tag >> 8), uint8_t(tag)};
    uint8_t *const start = data - sizeof(bytes);
    memmove(start, data, kAddressBytes);
    memcpy(start + kAddressBytes, bytes, sizeof(bytes));
    packet.data = start;
    packet.caplen += uint32_t(sizeof(bytes));
    packet.wire_len += uint32_t(sizeof(bytes));
}

// The block is in the cache of the processor on which the kernel wrote it, and each frame has the
// offset of the next one.  Later frames are prefetched, assuming that they are as long as this one,
// so that the reader does not wait for each in turn.
constexpr int kFramesAhead = 32;
constexpr size_t kLineBytes = 64;
constexpr size_t kFetchedBytes = 3 * kLineBytes; // the kernel's two headers and the packet's own
void fetch(const uint8_t *frame)
{
    for (size_t at = 0; at < kFetchedBytes; at += kLineBytes)
        __builtin_prefetch(frame + at);
}
} // namespace

PacketBlock::PacketBlock(tpacket_block_desc *block)
    : block_(block), next_(reinterpret_cast<uint8_t *>(block) + block->hdr.bh1.offset_to_first_pkt),
      left_(block->hdr.bh1.num_pkts)
{
}

// Members are copied first, since stores to packet views could alias them.
uint32_t PacketBlock::take(mapi_packet *packets, uint32_t limit, const View &view)
{
    const auto [link_type, snaplen, loopback] = view;
    uint8_t *next = next_;
    uint32_t left = left_;
    uint32_t count = 0;
    for (; count < limit && left > 0; --left) {
        const auto &header = *reinterpret_cast<const tpacket3_hdr *>(next);
        const auto &address =
            *reinterpret_cast<const sockaddr_ll *>(next + TPACKET_ALIGN(sizeof(tpacket3_hdr)));
        uint8_t *const data = next + header.tp_mac;
        fetch(next + size_t(kFramesAhead) * header.tp_next_offset);
        next += header.tp_next_offset;
        if (address.sll_pkttype == PACKET_OUTGOING && address.sll_ifindex == loopback) [[unlikely]]
            continue;
        mapi_packet &packet = packets[count++];
        packet = {data,
                  header.tp_snaplen,
                  header.tp_len,
                  header.tp_sec * kNsPerSecond + header.tp_nsec,
                  link_type,
                  0,
                  address.sll_pkttype};
        if ((header.tp_status & TP_STATUS_VLAN_VALID) && link_type == links::kEthernet &&
            packet.caplen >= kAddressBytes) [[unlikely]]
            restore_vlan_tag(packet, data, header);
        if (link_type == kCookedLinkType) [[unlikely]]
            put_cooked_header(packet, data, address);
        packet.caplen = std::min(packet.caplen, snaplen);
    }
    next_ = next;
    left_ = left;
    return count;
}
} // namespace mapi::drivers
