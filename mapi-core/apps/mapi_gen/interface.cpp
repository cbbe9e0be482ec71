// SPDX-License-Identifier: MIT
// interface: a name -> what sending needs to know of it.
#include "interface.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "ipc/descriptor.hpp"
#include "packets.hpp"

namespace mapi_gen
{
namespace
{
ifreq ask(int socket, const std::string &name, unsigned long request)
{
    ifreq question = {};
    name.copy(question.ifr_name, IFNAMSIZ - 1);
    if (ioctl(socket, request, &question) == 0)
        return question;
    const int number = errno;
    throw Refusal(fmt::format("{}: {}", name,
                              number == ENODEV
                                  ? "no such interface (ip link shows those that exist)"
                                  : std::strerror(number)));
}
} // namespace

Interface find_interface(const std::string &name)
{
    if (name.size() >= IFNAMSIZ)
        throw Refusal(name + ": no such interface (a name has at most 15 bytes)");
    const mapi::ipc::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open())
        throw Refusal(fmt::format("{}: {}", name, std::strerror(errno)));
    Interface interface;
    interface.name = name;
    interface.index = ask(socket.number(), name, SIOCGIFINDEX).ifr_ifindex;
    interface.mtu = unsigned(ask(socket.number(), name, SIOCGIFMTU).ifr_mtu);
    const int flags = ask(socket.number(), name, SIOCGIFFLAGS).ifr_flags;
    if (!(flags & IFF_UP))
        throw Refusal(fmt::format("{0}: the interface is down (ip link set {0} up)", name));
    interface.has_carrier = (flags & IFF_RUNNING) != 0;
    const ifreq hardware = ask(socket.number(), name, SIOCGIFHWADDR);
    const unsigned short type = hardware.ifr_hwaddr.sa_family;
    if (type != ARPHRD_ETHER && type != ARPHRD_LOOPBACK)
        throw Refusal(fmt::format("{}: link type {}: only Ethernet can be sent on", name, type));
    std::copy_n(reinterpret_cast<const uint8_t *>(hardware.ifr_hwaddr.sa_data),
                interface.mac.size(), interface.mac.begin());
    return interface;
}

std::optional<uint64_t> count_dropped(const Interface &interface)
{
    ifaddrs *list = nullptr;
    std::optional<uint64_t> dropped;
    if (getifaddrs(&list) != 0)
        return dropped;
    for (const ifaddrs *one = list; one; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_PACKET || !one->ifa_data ||
            interface.name != one->ifa_name)
            continue;
        rtnl_link_stats statistics; // of 32 bits: what matters is the difference
        std::memcpy(&statistics, one->ifa_data, sizeof(statistics));
        dropped = statistics.tx_dropped;
    }
    freeifaddrs(list);
    return dropped;
}
} // namespace mapi_gen
