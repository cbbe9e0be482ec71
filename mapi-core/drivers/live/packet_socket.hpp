// SPDX-License-Identifier: MIT
// Packet socket: an interface -> blocks of packets that the kernel writes into shared memory (TPACKET_V3, packet(7)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <linux/if_packet.h>

#include <mapi/function.h>

namespace mapi::drivers
{
struct PacketSocketOptions {
    uint64_t buffer_bytes;
    uint64_t snaplen;
    uint64_t block_timeout_ms; // a block that is not full is handed over after so long
    bool is_promiscuous;
    bool takes_outgoing;
    uint16_t fanout_group; // sockets of one group share the interface's packets, flow by flow; 0: none
};

// Whether it is a packet socket whose interface is gone, for good.
bool has_lost_interface(int descriptor);

// One open socket; goes when its interface does.  Device's thread, but for what says otherwise.
class PacketSocket
{
public:
    // A VLAN tag, which the kernel keeps beside the packet, is put back in front of it.
    static constexpr uint32_t kVlanTagBytes = 4;
    // Stands for all interfaces, those to come among them; their packets get a header in place of their link's (LINKTYPE_LINUX_SLL2).
    static constexpr const char *kAllInterfaces = "any";

    // No packet comes before bind().  Both throw std::runtime_error: what, where, what to do.
    // link_type: refuses an interface of another one.
    PacketSocket(const std::string &interface, const PacketSocketOptions &options, std::optional<uint16_t> link_type = std::nullopt);
    void bind();

    int descriptor() const { return descriptor_.value; }
    // Its interface is gone, and will not come back to this socket.
    bool is_dead() const;
    uint16_t link_type() const { return link_type_; }
    uint32_t interface_index() const { return uint32_t(interface_index_); } // 0: all

    // The oldest block that the kernel has handed over; null: there is none yet.
    tpacket_block_desc *block() const;
    // To the kernel, with all packets in it.
    void release(tpacket_block_desc *block);

    // Any thread.  Packets for which there was no room, since the last call.
    uint64_t take_drops();
    // Any thread.  False: the kernel gives everything.
    bool set_filter(const mapi_filter_code *code, uint32_t count);

private:
    struct Descriptor {
        int value = -1;
        ~Descriptor();
    };
    struct Ring {
        uint8_t *memory = nullptr;
        size_t bytes = 0;
        ~Ring();
    };

    void open();
    void find_interface();
    void map();
    void attach(const std::vector<sock_filter> &program);

    const std::string interface_;
    const PacketSocketOptions options_;
    const bool takes_all_;
    Descriptor descriptor_;
    Ring ring_;
    int interface_index_ = 0;
    uint16_t link_type_ = 0;
    uint32_t blocks_ = 0;
    uint32_t next_ = 0;
    std::vector<sock_filter> filter_;
};
} // namespace mapi::drivers
