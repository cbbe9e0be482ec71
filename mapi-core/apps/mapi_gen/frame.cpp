// SPDX-License-Identifier: MIT
// frame: sizes and addresses -> an Ethernet frame with IPv4 and UDP, whose checksums are right.
#include "frame.hpp"

#include <random>
#include <string_view>

namespace mapi_gen
{
namespace
{
constexpr uint16_t kDiscardPort = 9; // RFC 863: a server there answers nothing
constexpr uint8_t kUdp = 17, kTimeToLive = 64;
constexpr uint32_t kSeed = 20010; // any; fixed, so that runs repeat

constexpr std::string_view kText =
    "GET /index.html HTTP/1.1 is how a request for a page begins, and this line is only filler "
    "that looks like one: words of ordinary length, with blanks, commas and a full stop. ";

void put16(std::span<uint8_t> bytes, size_t at, uint32_t value)
{
    bytes[at] = uint8_t(value >> 8);
    bytes[at + 1] = uint8_t(value);
}

void put32(std::span<uint8_t> bytes, size_t at, uint32_t value)
{
    put16(bytes, at, value >> 16);
    put16(bytes, at + 2, value & 0xffff);
}

uint32_t fold(uint32_t sum)
{
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

// RFC 1071; an odd last byte is the upper half of a word.
uint32_t sum_of(std::span<const uint8_t> bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
        sum += i % 2 == 0 ? uint32_t(bytes[i]) << 8 : bytes[i];
    return fold(sum);
}

void fill(std::span<uint8_t> payload, Payload kind)
{
    std::mt19937 random(kSeed);
    for (size_t i = 0; i < payload.size(); ++i)
        payload[i] = kind == Payload::kRandom ? uint8_t(random() >> 24)
                     : kind == Payload::kText ? uint8_t(kText[i % kText.size()])
                                              : uint8_t{0};
}
} // namespace

std::vector<uint8_t> build_frame(const FrameSetup &setup)
{
    std::vector<uint8_t> frame(setup.wire_bytes - kChecksumBytes);
    const std::span<uint8_t> bytes = frame;
    std::copy(setup.to_mac.begin(), setup.to_mac.end(), frame.begin());
    std::copy(setup.from_mac.begin(), setup.from_mac.end(), frame.begin() + 6);
    put16(bytes, 12, 0x0800);

    const std::span<uint8_t> ip = bytes.subspan(kEthernetBytes);
    ip[0] = 0x45; // version 4, five words
    put16(ip, 2, uint32_t(ip.size()));
    ip[8] = kTimeToLive;
    ip[9] = kUdp;
    put32(ip, 12, setup.from_address);
    put32(ip, 16, setup.to_address);
    put16(ip, 10, ~sum_of(ip.first(kIpBytes)));

    const std::span<uint8_t> udp = ip.subspan(kIpBytes);
    put16(udp, 2, kDiscardPort);
    put16(udp, 4, uint32_t(udp.size()));
    fill(udp.subspan(kUdpBytes), setup.payload);
    set_source_port(bytes, sum_without_port(bytes), kFirstSourcePort);
    return frame;
}

uint32_t sum_without_port(std::span<const uint8_t> frame)
{
    const auto addresses = frame.subspan(kEthernetBytes + 12, 8);
    const auto udp = frame.subspan(kEthernetBytes + kIpBytes);
    // the pseudo header, then the UDP header without source port and checksum, then the payload
    return fold(sum_of(addresses) + kUdp + uint32_t(udp.size()) + sum_of(udp.subspan(2, 4)) +
                sum_of(udp.subspan(kUdpBytes)));
}

void set_source_port(std::span<uint8_t> frame, uint32_t sum_without_port, uint16_t port)
{
    const uint32_t checksum = ~fold(sum_without_port + port) & 0xffff;
    put16(frame, kSourcePortAt, port);
    put16(frame, kUdpChecksumAt, checksum ? checksum : 0xffff); // 0 means: no checksum
}
} // namespace mapi_gen
