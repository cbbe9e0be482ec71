// SPDX-License-Identifier: MIT
// Ethernet sender: a packet socket that only sends.
#include "functions/output/ethernet_sender.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mapi::functions
{
namespace
{
[[noreturn]] void fail(const std::string &interface, const std::string &what, int number)
{
    std::string text = interface + ": " + what + ": " + strerror(number);
    if (number == EPERM || number == EACCES)
        text +=
            " (sending requires CAP_NET_RAW: run as root, or use setcap cap_net_raw+ep PROGRAM)";
    throw std::runtime_error(text);
}

// Returns the interface index.  Throws unless it is an Ethernet interface.
int find_ethernet(int socket, const std::string &interface)
{
    ifreq request = {};
    if (interface.empty() || interface.size() >= sizeof(request.ifr_name))
        fail(interface, "cannot open", ENODEV);
    memcpy(request.ifr_name, interface.c_str(), interface.size() + 1);
    if (ioctl(socket, SIOCGIFINDEX, &request) < 0)
        fail(interface, "cannot open", errno);
    const int index = request.ifr_ifindex;
    if (ioctl(socket, SIOCGIFHWADDR, &request) < 0)
        fail(interface, "cannot read its link type", errno);
    const int hardware = request.ifr_hwaddr.sa_family;
    if (hardware != ARPHRD_ETHER && hardware != ARPHRD_LOOPBACK)
        throw std::runtime_error(interface + ": its link type, ARPHRD " + std::to_string(hardware) +
                                 ", is not Ethernet");
    return index;
}

// Packets go directly to the driver: none waits in a queue, and none is seen by sockets that read
// the interface, including those of a device.
void prepare(int socket, int index, const std::string &interface)
{
    const int on = 1;
    sockaddr_ll address = {};
    address.sll_family = AF_PACKET; // protocol 0: receive nothing
    address.sll_ifindex = index;
    if (setsockopt(socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0)
        fail(interface, "cannot set PACKET_QDISC_BYPASS", errno);
    if (bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
        fail(interface, "cannot bind", errno);
}
} // namespace

EthernetSender::EthernetSender(const std::string &interface)
    : interface_(interface), socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
{
    if (socket_ < 0)
        fail(interface_, "cannot create a packet socket", errno);
    try {
        interface_index_ = uint32_t(find_ethernet(socket_, interface_));
        prepare(socket_, int(interface_index_), interface_);
    } catch (...) {
        close(socket_);
        throw;
    }
}

EthernetSender::~EthernetSender()
{
    close(socket_);
}

EthernetSender::Outcome EthernetSender::send(std::span<const mapi_packet *const> frames)
{
    std::array<mmsghdr, MAPI_BATCH_MAX> messages{};
    std::array<iovec, MAPI_BATCH_MAX> parts{};
    Outcome outcome;
    for (size_t i = 0; i < frames.size(); ++i) {
        parts[i] = {const_cast<uint8_t *>(frames[i]->data), frames[i]->caplen};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    // An error refers to the first frame that remains.
    for (size_t at = 0; at < frames.size();) {
        const int sent =
            sendmmsg(socket_, &messages[at], unsigned(frames.size() - at), MSG_DONTWAIT);
        if (sent > 0) {
            outcome.sent += uint64_t(sent);
            at += size_t(sent);
        } else if (errno != EINTR) {
            if (errno == ENOBUFS || errno == EAGAIN) {
                ++outcome.no_room;
            } else {
                ++outcome.refused;
                outcome.refused_errno = errno;
            }
            ++at;
        }
    }
    return outcome;
}
} // namespace mapi::functions
