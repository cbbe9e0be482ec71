// SPDX-License-Identifier: MIT
// icmp_sender: the bytes of the packet, and a packet socket.
#include "reports/ktime_runner/icmp_sender.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reports/ktime_runner/attached_program.hpp"

namespace ktime_runner
{
namespace
{
constexpr uint32_t kFrom = 0x0a000001, kTo = 0x0a000002; // 10.0.0.1, 10.0.0.2
constexpr uint8_t kHops = 64;

uint16_t checksum(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i += 2)
        sum += uint32_t(bytes[i] << 8 | bytes[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    return htons(uint16_t(~(sum + (sum >> 16))));
}
} // namespace

IcmpPacket icmp_packet()
{
    IcmpPacket packet = {};
    constexpr size_t kIpAt = sizeof(ether_header), kIcmpAt = kIpAt + sizeof(iphdr);
    for (size_t i = kIcmpAt + sizeof(icmphdr); i < packet.size(); ++i)
        packet[i] = uint8_t(i);

    ether_header ethernet = {};
    std::memset(ethernet.ether_dhost, 0xff, ETH_ALEN); // any station takes it
    ethernet.ether_shost[0] = 2;
    ethernet.ether_type = htons(ETHERTYPE_IP);
    std::memcpy(packet.data(), &ethernet, sizeof(ethernet));

    iphdr ip = {};
    ip.version = 4;
    ip.ihl = sizeof(ip) / 4;
    ip.tot_len = htons(uint16_t(packet.size() - kIpAt));
    ip.ttl = kHops;
    ip.protocol = IPPROTO_ICMP;
    ip.saddr = htonl(kFrom);
    ip.daddr = htonl(kTo);
    std::memcpy(&packet[kIpAt], &ip, sizeof(ip));
    ip.check = checksum(&packet[kIpAt], sizeof(ip));
    std::memcpy(&packet[kIpAt], &ip, sizeof(ip));

    icmphdr icmp = {};
    icmp.type = ICMP_ECHO;
    icmp.un.echo.sequence = htons(1);
    std::memcpy(&packet[kIcmpAt], &icmp, sizeof(icmp));
    icmp.checksum = checksum(&packet[kIcmpAt], packet.size() - kIcmpAt);
    std::memcpy(&packet[kIcmpAt], &icmp, sizeof(icmp));
    return packet;
}

IcmpSender::IcmpSender(const std::string &interface)
    : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)), packet_(icmp_packet())
{
    if (socket_ < 0)
        throw Refusal("packet socket: " + std::string(std::strerror(errno)));
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = int(if_nametoindex(interface.c_str()));
    if (address.sll_ifindex == 0)
        throw Refusal(interface + ": no such interface");
    if (bind(socket_, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        throw Refusal(interface + ": packet socket: " + std::strerror(errno));
}

IcmpSender::~IcmpSender()
{
    if (socket_ >= 0)
        close(socket_);
}

void IcmpSender::send() const
{
    if (::send(socket_, packet_.data(), packet_.size(), 0) < 0)
        throw Refusal("the ICMP packet cannot be sent: " + std::string(std::strerror(errno)));
}
} // namespace ktime_runner
