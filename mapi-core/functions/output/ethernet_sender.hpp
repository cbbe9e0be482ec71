// SPDX-License-Identifier: MIT
// Ethernet sender: frames -> a network interface, at once or not at all.  Facts: packet(7), Documentation/networking/packet_mmap.rst.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <mapi/packet.h>

namespace mapi::functions
{
class EthernetSender
{
public:
    // Throws std::runtime_error: what, where, what to do.
    explicit EthernetSender(const std::string &interface);
    ~EthernetSender();
    EthernetSender(const EthernetSender &) = delete;
    EthernetSender &operator=(const EthernetSender &) = delete;

    uint32_t interface_index() const { return interface_index_; }

    struct Outcome {
        uint64_t sent = 0, no_room = 0, refused = 0;
        int refused_errno = 0; // of the last that was refused
    };
    // At most MAPI_BATCH_MAX.  Does not wait.
    Outcome send(std::span<const mapi_packet *const> frames);

private:
    const std::string interface_;
    int socket_ = -1;
    uint32_t interface_index_ = 0;
};
} // namespace mapi::functions
