// SPDX-License-Identifier: MIT
// A packet socket that is read for a while -> a sample of its packets.
#include "drivers/xdp/cost/packet_sample.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace mapi::drivers::xdp
{
namespace
{
constexpr int kLookMs = 10;
// What arrives in between: the kernel discards more before it copies it.
constexpr int kQueueBytes = 1 << 18;
constexpr size_t kAddressBytes = size_t{2} * ETH_ALEN;
constexpr size_t kTagBytes = 4;
constexpr size_t kFrameBytesMax = 16384;

[[noreturn]] void fail(const char *what)
{
    const int number = errno;
    throw KernelRefusal(std::string(what) + ": " + std::strerror(number) +
                            (number == EPERM ? " (requires the capability CAP_NET_RAW)" : ""),
                        number);
}

size_t frame_bytes(int socket, uint32_t interface_index)
{
    ifreq request = {};
    if (!if_indextoname(interface_index, request.ifr_name) ||
        ioctl(socket, SIOCGIFMTU, &request) != 0)
        return kFrameBytesMax;
    return std::min(kFrameBytesMax, size_t(request.ifr_mtu) + ETH_HLEN);
}

// Empty: the packet had none, or it is still in the packet.
std::vector<uint8_t> removed_tag(msghdr &message)
{
    const cmsghdr *const extra = CMSG_FIRSTHDR(&message);
    if (!extra || extra->cmsg_level != SOL_PACKET || extra->cmsg_type != PACKET_AUXDATA)
        return {};
    tpacket_auxdata data;
    std::memcpy(&data, CMSG_DATA(extra), sizeof(data));
    if (!(data.tp_status & TP_STATUS_VLAN_VALID))
        return {};
    const uint32_t protocol =
        data.tp_status & TP_STATUS_VLAN_TPID_VALID ? data.tp_vlan_tpid : ETH_P_8021Q;
    return {uint8_t(protocol >> 8), uint8_t(protocol), uint8_t(data.tp_vlan_tci >> 8),
            uint8_t(data.tp_vlan_tci)};
}
} // namespace

PacketSample::PacketSample(uint32_t interface_index)
    : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      frame_bytes_(frame_bytes(socket_.number(), interface_index))
{
    if (!socket_.is_open())
        fail("packet socket");
    const int yes = 1;
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = int(interface_index);
    const auto set = [&](int level, int option, int value) {
        return setsockopt(socket_.number(), level, option, &value, sizeof(value)) == 0;
    };
    if (!set(SOL_SOCKET, SO_RCVBUF, kQueueBytes) || !set(SOL_PACKET, PACKET_IGNORE_OUTGOING, yes) ||
        !set(SOL_PACKET, PACKET_AUXDATA, yes) ||
        bind(socket_.number(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        fail("packet socket");
}

void PacketSample::take_until(std::chrono::steady_clock::time_point end,
                              const std::function<bool()> &is_over)
{
    PacketBytes packet;
    while (std::chrono::steady_clock::now() < end && !is_over()) {
        while (std::chrono::steady_clock::now() < end && receive(packet))
            choose(packet);
        poll(nullptr, 0, kLookMs);
    }
}

// Returns false if no packet is waiting.
bool PacketSample::receive(PacketBytes &packet) const
{
    packet.resize(frame_bytes_);
    alignas(cmsghdr) std::array<uint8_t, CMSG_SPACE(sizeof(tpacket_auxdata))> extra;
    iovec memory = {packet.data(), packet.size()};
    msghdr message = {};
    message.msg_iov = &memory;
    message.msg_iovlen = 1;
    message.msg_control = extra.data();
    message.msg_controllen = extra.size();
    const ssize_t received = recvmsg(socket_.number(), &message, 0);
    if (received < 0)
        return false;
    packet.resize(size_t(received));
    const std::vector<uint8_t> tag = removed_tag(message);
    if (tag.size() == kTagBytes && packet.size() >= kAddressBytes)
        packet.insert(packet.begin() + kAddressBytes, tag.begin(), tag.end());
    return true;
}

// Packet n replaces another with probability kPackets / n.
void PacketSample::choose(PacketBytes &packet)
{
    if (packet.size() < ETH_HLEN) // which the kernel does not run a program on
        return;
    ++seen_;
    if (packets_.size() < kPackets)
        return packets_.push_back(packet);
    const uint64_t at = std::uniform_int_distribution<uint64_t>(0, seen_ - 1)(random_);
    if (at < kPackets)
        packets_[at].swap(packet);
}
} // namespace mapi::drivers::xdp
