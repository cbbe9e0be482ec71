// SPDX-License-Identifier: MIT
// Fuzz target: blocks as the kernel makes them, of any packets -> views that stay inside their
// block.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "drivers/live/packet_block.hpp"
#include "drivers/live/packet_socket.hpp"

namespace
{
using mapi::drivers::PacketBlock;
using mapi::drivers::PacketSocket;

constexpr size_t kChoiceBytes = 12; // before each packet's bytes
constexpr size_t kPacketsMax = 16;

size_t aligned(size_t bytes)
{
    return TPACKET_ALIGN(bytes);
}

// The packet is preceded by room for a VLAN tag, as PacketSocket requests.
size_t place_bytes(size_t caplen)
{
    return aligned(aligned(sizeof(tpacket3_hdr)) + sizeof(sockaddr_ll) +
                   PacketSocket::kVlanTagBytes + caplen);
}

// One packet; returns the length of its entry.
size_t put(uint8_t *place, const uint8_t *choice, const uint8_t *bytes, size_t caplen, bool is_last)
{
    tpacket3_hdr header = {};
    sockaddr_ll address = {};
    const size_t offset = aligned(sizeof(header)) + sizeof(address) + PacketSocket::kVlanTagBytes;
    header.tp_next_offset = is_last ? 0 : uint32_t(place_bytes(caplen));
    header.tp_mac = uint16_t(offset);
    header.tp_snaplen = uint32_t(caplen);
    header.tp_len = uint32_t(caplen) + choice[2];
    header.tp_status = (choice[3] & 1 ? TP_STATUS_VLAN_VALID : 0) |
                       (choice[3] & 2 ? TP_STATUS_VLAN_TPID_VALID : 0);
    memcpy(&header.tp_sec, choice + 4, sizeof(header.tp_sec));
    header.tp_nsec = choice[8];
    header.hv1.tp_vlan_tci = choice[9];
    header.hv1.tp_vlan_tpid = choice[10];
    address.sll_pkttype = choice[11] & 7;
    memcpy(place, &header, sizeof(header));
    memcpy(place + aligned(sizeof(header)), &address, sizeof(address));
    memcpy(place + offset, bytes, caplen);
    return place_bytes(caplen);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 + kChoiceBytes)
        return 0;
    const auto link_type = uint16_t(data[0] & 3 ? 1 : 101);
    const uint32_t snaplen = data[1] ? uint32_t(data[1]) * 8 : 65535;
    const size_t head = aligned(sizeof(tpacket_block_desc)),
                 most = head + (size + kPacketsMax * 64) * 4;
    const auto memory = std::make_unique<uint8_t[]>(most);
    auto *const block = new (memory.get()) tpacket_block_desc{};
    block->hdr.bh1.offset_to_first_pkt = uint32_t(head);
    size_t at = head;
    for (const uint8_t *from = data + 2;
         size_t(data + size - from) >= kChoiceBytes && block->hdr.bh1.num_pkts < kPacketsMax;
         ++block->hdr.bh1.num_pkts) {
        const size_t left = size_t(data + size - from) - kChoiceBytes;
        const size_t caplen = std::min<size_t>(from[0] | (from[1] & 3) << 8, left);
        at += put(memory.get() + at, from, from + kChoiceBytes, caplen,
                  left - caplen < kChoiceBytes || block->hdr.bh1.num_pkts + 1 == kPacketsMax);
        from += kChoiceBytes + caplen;
    }
    for (PacketBlock packets(block); !packets.is_empty();) {
        mapi_packet taken[3];
        const uint32_t count = packets.take(taken, 3, {link_type, snaplen, data[0] & 4});
        for (const mapi_packet &packet : std::span(taken, count)) {
            if (packet.caplen > snaplen || packet.caplen > packet.wire_len ||
                packet.data < memory.get() || packet.data + packet.caplen > memory.get() + at)
                abort();
        }
    }
    return 0;
}
