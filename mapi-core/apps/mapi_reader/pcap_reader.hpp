// SPDX-License-Identifier: MIT
// pcap_reader: an interface -> packets as programs for libpcap get them, each given to the work.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "mapi_reader/counts.hpp"
#include "mapi_reader/packet_work.hpp"

namespace mapi_reader
{
enum class Method {
    kRead, // one recvfrom() per packet from a packet socket, as libpcap did before it mapped a ring
    kMmap, // libpcap as it is, which maps a ring of the kernel (TPACKET_V3)
};

// A thread that reads until the end.  Throws std::runtime_error.
std::unique_ptr<Reader> read_packets(Method method, const std::string &interface,
                                     std::unique_ptr<PacketWork> work);
} // namespace mapi_reader
