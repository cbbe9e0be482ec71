// SPDX-License-Identifier: MIT
// An ICMP echo request with 56 bytes of data, as ping(8) sends it -> an interface.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ktime_runner
{
using IcmpPacket = std::array<uint8_t, 98>;

IcmpPacket icmp_packet();

// A packet socket, so that neither addresses nor neighbours have a part.
class IcmpSender
{
public:
    explicit IcmpSender(const std::string &interface); // throws Refusal
    IcmpSender(const IcmpSender &) = delete;
    IcmpSender &operator=(const IcmpSender &) = delete;
    ~IcmpSender();

    // On a veth pair, the other end's XDP program has usually run when it returns.
    void send() const;
    const IcmpPacket &packet() const { return packet_; }

private:
    int socket_ = -1;
    IcmpPacket packet_;
};
} // namespace ktime_runner
