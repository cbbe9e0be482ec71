// SPDX-License-Identifier: MIT
// Port: an interface -> packets that arrive there, and a way to send there.
#include "port.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "mapi_gen/packet_socket.hpp"

namespace impair
{
namespace
{
using mapi::ipc::Descriptor;

// struct virtio_net_hdr, whose header C++ does not compile.
struct OffloadHeader {
    uint8_t flags;
    uint8_t merge_type; // 0: none
    uint16_t header_bytes, part_bytes, checksum_start, checksum_offset;
};
constexpr uint8_t kNeedsChecksum = 1;
constexpr size_t kHeaderBytes = sizeof(OffloadHeader);

constexpr size_t kBatch = 32;
constexpr size_t kMostBytes = 65536; // of a merged packet
constexpr int kBufferBytes = 32 << 20;
constexpr size_t kControlBytes = CMSG_SPACE(sizeof(tpacket_auxdata)) + CMSG_SPACE(sizeof(timespec));

[[noreturn]] void refuse(const mapi_gen::Interface &interface, const char *what)
{
    throw mapi_gen::Refusal(
        fmt::format("{}: AF_PACKET socket: {}: {}", interface.name, what, std::strerror(errno)));
}

template <class Value>
void set(const Descriptor &socket, const mapi_gen::Interface &interface, int level, int option,
         const char *name, const Value &value)
{
    if (setsockopt(socket.number(), level, option, &value, sizeof(value)) != 0)
        refuse(interface, name);
}

// The protocol is set last, so that no packet arrives before the options are.
Descriptor open_receiving(const mapi_gen::Interface &interface)
{
    Descriptor made(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made.is_open())
        refuse(interface, "socket");
    const int on = 1;
    // Otherwise what this program and the host send here would be forwarded, too.
    set(made, interface, SOL_PACKET, PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING", on);
    set(made, interface, SOL_PACKET, PACKET_AUXDATA, "PACKET_AUXDATA", on);
    set(made, interface, SOL_PACKET, PACKET_VNET_HDR, "PACKET_VNET_HDR", on);
    set(made, interface, SOL_SOCKET, SO_TIMESTAMPNS, "SO_TIMESTAMPNS", on);
    if (setsockopt(made.number(), SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes,
                   sizeof(kBufferBytes)) != 0)
        set(made, interface, SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF", kBufferBytes);
    packet_mreq all = {};
    all.mr_ifindex = interface.index;
    all.mr_type = PACKET_MR_PROMISC;
    set(made, interface, SOL_PACKET, PACKET_ADD_MEMBERSHIP, "PACKET_MR_PROMISC", all);
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = interface.index;
    if (bind(made.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        refuse(interface, "bind");
    return made;
}

bool is_away(int error)
{
    return error == ENETDOWN || error == ENODEV || error == ENXIO;
}
} // namespace

struct Port::Batch {
    struct Slot {
        OffloadHeader header;
        uint8_t room[kTagBytes + kMostBytes];
        alignas(cmsghdr) uint8_t control[kControlBytes];
        iovec parts[2];

        Arrival arrival(size_t bytes, msghdr &message);
    };

    Batch();
    Slot slots[kBatch];
    mmsghdr messages[kBatch] = {};
};

Port::Batch::Batch()
{
    for (size_t i = 0; i < kBatch; ++i) {
        Slot &slot = slots[i];
        slot.parts[0] = {&slot.header, kHeaderBytes};
        slot.parts[1] = {slot.room + kTagBytes, kMostBytes};
        messages[i].msg_hdr.msg_iov = slot.parts;
        messages[i].msg_hdr.msg_iovlen = 2;
        messages[i].msg_hdr.msg_control = slot.control;
    }
}

Arrival Port::Batch::Slot::arrival(size_t bytes, msghdr &message)
{
    Arrival found;
    found.frame = {room + kTagBytes, bytes};
    found.is_merged = header.merge_type != 0 || (message.msg_flags & MSG_TRUNC) != 0;
    // before the tag moves the frame's begin
    if ((header.flags & kNeedsChecksum) && !found.is_merged)
        complete_checksum(found.frame, header.checksum_start, header.checksum_offset);
    for (cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS) {
            timespec time;
            std::memcpy(&time, CMSG_DATA(one), sizeof(time));
            found.real_ns = uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
        } else if (one->cmsg_level == SOL_PACKET && one->cmsg_type == PACKET_AUXDATA) {
            tpacket_auxdata about;
            std::memcpy(&about, CMSG_DATA(one), sizeof(about));
            const bool has_protocol = about.tp_status & TP_STATUS_VLAN_TPID_VALID;
            if (about.tp_status & TP_STATUS_VLAN_VALID)
                found.frame =
                    put_tag(found.frame, {has_protocol ? about.tp_vlan_tpid : uint16_t(ETH_P_8021Q),
                                          about.tp_vlan_tci});
        }
    }
    return found;
}

Port::Port(const std::string &name)
    : interface_(mapi_gen::find_interface(name)), sending_(mapi_gen::open_sending(interface_)),
      batch_(std::make_unique<Batch>())
{
    receiving_ = open_receiving(interface_);
}

Port::~Port() = default;
Port::Port(Port &&) noexcept = default;

size_t Port::receive(const Take &take)
{
    for (mmsghdr &message : batch_->messages) // the kernel has written the length of the last ones
        message.msg_hdr.msg_controllen = kControlBytes;
    const int count =
        recvmmsg(receiving_.number(), batch_->messages, kBatch, MSG_DONTWAIT | MSG_TRUNC, nullptr);
    if (count < 0) {
        if (is_away(errno))
            gone_ = errno;
        return 0;
    }
    for (size_t i = 0; i < size_t(count); ++i) {
        const size_t bytes = batch_->messages[i].msg_len;
        if (bytes < kHeaderBytes)
            continue;
        take(batch_->slots[i].arrival(std::min(bytes - kHeaderBytes, kMostBytes),
                                      batch_->messages[i].msg_hdr));
    }
    return size_t(count);
}

int Port::send(std::span<const uint8_t> frame)
{
    if (::send(sending_.number(), frame.data(), frame.size(), MSG_DONTWAIT) >= 0)
        return 0;
    const int error = errno;
    if (is_away(error))
        gone_ = error;
    return error;
}

uint64_t Port::missed()
{
    tpacket_stats counts = {};
    socklen_t bytes = sizeof(counts);
    if (getsockopt(receiving_.number(), SOL_PACKET, PACKET_STATISTICS, &counts, &bytes) == 0)
        missed_ += counts.tp_drops; // reading it sets it to 0
    return missed_;
}
} // namespace impair
