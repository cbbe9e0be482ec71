// SPDX-License-Identifier: MIT
// Packet socket: an interface -> blocks of packets that the kernel writes into shared memory
// (TPACKET_V3, packet(7)).
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
    uint64_t block_timeout_ms; // after which a block that is not full is delivered
    bool is_promiscuous;
    bool takes_outgoing;
    uint16_t fanout_group; // sockets of one group share the interface's packets, flow by flow; 0:
                           // no group
};

// Whether it is a packet socket whose interface has been removed.
bool has_lost_interface(int descriptor);

// One open socket; unusable once its interface is removed.  Device's thread, unless noted
// otherwise.
class PacketSocket
{
public:
    // The kernel stores a VLAN tag separately; it is restored, which needs room in front of the
    // packet.
    static constexpr uint32_t kVlanTagBytes = 4;
    // All interfaces, including those that appear later; a LINKTYPE_LINUX_SLL2 header replaces the
    // packets' link header.
    static constexpr const char *kAllInterfaces = "any";

    // No packet arrives before bind().  Both throw std::runtime_error with a complete message.
    // link_type: refuse an interface with a different one.
    PacketSocket(const std::string &interface, const PacketSocketOptions &options,
                 std::optional<uint16_t> link_type = std::nullopt);
    // Whether the interface is up.
    bool bind();

    int descriptor() const { return descriptor_.value; }
    // The interface has been removed, and will not return to this socket.
    bool is_dead() const;
    uint16_t link_type() const { return link_type_; }
    uint32_t interface_index() const { return uint32_t(interface_index_); } // 0: all

    // The oldest block that the kernel has delivered; null if there is none yet.
    tpacket_block_desc *block() const;
    // Returns the block, with all its packets, to the kernel.
    void release(tpacket_block_desc *block);

    // Any thread.  Packets dropped for lack of room since the last call.
    uint64_t take_drops();
    // Any thread.  False if the kernel cannot use the filter and delivers all packets.
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
