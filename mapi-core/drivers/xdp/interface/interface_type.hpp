// SPDX-License-Identifier: MIT
// Interfaces that an XDP program can watch.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "drivers/live/live_source.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::drivers::xdp
{
struct Ethernet {
    uint32_t index;
    bool is_loopback; // what leaves it comes in again
};

// An interface whose packets begin with an Ethernet header.  Throws NoInterface, or
// std::runtime_error.
inline Ethernet find_ethernet(const std::string &interface)
{
    const uint32_t index = if_nametoindex(interface.c_str());
    if (index == 0)
        throw NoInterface(interface + ": there is no such interface (ip link lists them)");
    ifreq request = {};
    interface.copy(request.ifr_name, sizeof(request.ifr_name) - 1);
    const ipc::Descriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (ioctl(any.number(), SIOCGIFHWADDR, &request) != 0)
        throw std::runtime_error(interface + ": its type cannot be read: " + strerror(errno));
    const int type = request.ifr_hwaddr.sa_family;
    if (type != ARPHRD_ETHER && type != ARPHRD_LOOPBACK)
        throw std::runtime_error(interface +
                                 ": is not an Ethernet interface; use driver=af_packet");
    return {index, type == ARPHRD_LOOPBACK};
}
} // namespace mapi::drivers::xdp
