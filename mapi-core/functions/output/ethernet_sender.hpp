// SPDX-License-Identifier: MIT
// Ethernet sender: frames -> a network interface, immediately or not at all.  See packet(7),
// Documentation/networking/packet_mmap.rst.
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
    // Throws std::runtime_error with the object, the reason and the remedy.
    explicit EthernetSender(const std::string &interface);
    ~EthernetSender();
    EthernetSender(const EthernetSender &) = delete;
    EthernetSender &operator=(const EthernetSender &) = delete;

    uint32_t interface_index() const { return interface_index_; }

    struct Outcome {
        uint64_t sent = 0, no_room = 0, refused = 0;
        int refused_errno = 0; // of the last frame refused
    };
    // At most MAPI_BATCH_MAX frames.  Does not block.
    Outcome send(std::span<const mapi_packet *const> frames);

private:
    const std::string interface_;
    int socket_ = -1;
    uint32_t interface_index_ = 0;
};
} // namespace mapi::functions
