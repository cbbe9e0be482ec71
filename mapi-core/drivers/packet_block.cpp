// SPDX-License-Identifier: MIT
// Packet block: one block of the kernel's buffer -> packet views.
#include "drivers/packet_block.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/cooked_header.hpp"
#include "drivers/packet_socket.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;
constexpr size_t kAddressBytes = 12;

// Into the room that the socket reserves in front of each packet.
void restore_vlan_tag(mapi_packet &packet, uint8_t *data, const tpacket3_hdr &header)
{
    const uint16_t type = header.tp_status & TP_STATUS_VLAN_TPID_VALID ? header.hv1.tp_vlan_tpid : 0x8100;
    const auto tag = uint16_t(header.hv1.tp_vlan_tci);
    const uint8_t bytes[PacketSocket::kVlanTagBytes] = {uint8_t(type >> 8), uint8_t(type), uint8_t(tag >> 8), uint8_t(tag)};
    uint8_t *const start = data - sizeof(bytes);
    memmove(start, data, kAddressBytes);
    memcpy(start + kAddressBytes, bytes, sizeof(bytes));
    packet.data = start;
    packet.caplen += uint32_t(sizeof(bytes));
    packet.wire_len += uint32_t(sizeof(bytes));
}
} // namespace

PacketBlock::PacketBlock(tpacket_block_desc *block)
    : block_(block), next_(reinterpret_cast<uint8_t *>(block) + block->hdr.bh1.offset_to_first_pkt), left_(block->hdr.bh1.num_pkts)
{
}

bool PacketBlock::next(mapi_packet &packet, uint16_t link_type, uint32_t snaplen, int loopback)
{
    const auto &header = *reinterpret_cast<const tpacket3_hdr *>(next_);
    const auto &address = *reinterpret_cast<const sockaddr_ll *>(next_ + TPACKET_ALIGN(sizeof(tpacket3_hdr)));
    uint8_t *const data = next_ + header.tp_mac;
    next_ += header.tp_next_offset;
    --left_;
    if (address.sll_pkttype == PACKET_OUTGOING && address.sll_ifindex == loopback)
        return false;
    packet = {data, header.tp_snaplen, header.tp_len, header.tp_sec * kNsPerSecond + header.tp_nsec, link_type, 0, address.sll_pkttype};
    if ((header.tp_status & TP_STATUS_VLAN_VALID) && link_type == links::kEthernet && packet.caplen >= kAddressBytes) [[unlikely]]
        restore_vlan_tag(packet, data, header);
    if (link_type == kCookedLinkType)
        put_cooked_header(packet, data, address);
    packet.caplen = std::min(packet.caplen, snaplen);
    return true;
}
} // namespace mapi::drivers
