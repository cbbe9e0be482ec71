// SPDX-License-Identifier: MIT
// frame: sizes and addresses -> an Ethernet frame with IPv4 and UDP, whose checksums are right.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quantities.hpp"

namespace mapi_gen
{
constexpr size_t kChecksumBytes = 4; // of the Ethernet frame; the card adds it
constexpr uint32_t kLeastWireBytes = 64, kMostWireBytes = 1518;
constexpr size_t kEthernetBytes = 14, kIpBytes = 20, kUdpBytes = 8;
constexpr size_t kHeaderBytes = kEthernetBytes + kIpBytes + kUdpBytes;
constexpr size_t kSourcePortAt = kEthernetBytes + kIpBytes;
constexpr size_t kUdpChecksumAt = kSourcePortAt + 6;
constexpr uint16_t kFirstSourcePort = 1024;
constexpr int kMostSourcePorts = 65536 - kFirstSourcePort;

// A shorter frame is filled up by the card.
inline uint64_t wire_bytes(size_t frame_bytes)
{
    return std::max<uint64_t>(frame_bytes + kChecksumBytes, kLeastWireBytes);
}

enum class Payload { kZero, kRandom, kText };

struct FrameSetup {
    size_t wire_bytes = kLeastWireBytes;
    Mac from_mac = {};
    // A unicast address of the locally administered range: the kernel of a host that gets it drops
    // the packet as another host's.  To broadcasts its IP stack would look for an answer.
    Mac to_mac = {0x02, 0x4e, 0x53, 0x00, 0x00, 0x01};
    uint32_t from_address = 0xc6120001; // 198.18.0.1: RFC 2544 reserves 198.18.0.0/15
    uint32_t to_address = 0xc6130001;   // 198.19.0.1
    Payload payload = Payload::kZero;
    uint32_t source_ports = 1;
};

// Without the frame's checksum; its source port is kFirstSourcePort.
std::vector<uint8_t> build_frame(const FrameSetup &setup);

// The one's complement sum under the UDP checksum, as if the source port were 0; 16 bits.
uint32_t sum_without_port(std::span<const uint8_t> frame);

// Writes both the port and the checksum that belongs to it.
void set_source_port(std::span<uint8_t> frame, uint32_t sum_without_port, uint16_t port);
} // namespace mapi_gen
