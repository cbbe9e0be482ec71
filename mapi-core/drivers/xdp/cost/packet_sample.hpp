// SPDX-License-Identifier: MIT
// Packets that arrive at an interface -> a few of them, of which each is as likely.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "drivers/xdp/cost/net_cost.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::drivers::xdp
{
class PacketSample
{
public:
    static constexpr size_t kPackets = 64;

    // Packets from now on, as the host's own sockets get them: with VLAN tags, and at most as long
    // as a frame of the interface.  Throws KernelRefusal.
    explicit PacketSample(uint32_t interface_index);

    void take_until(std::chrono::steady_clock::time_point end,
                    const std::function<bool()> &is_over);
    const std::vector<PacketBytes> &packets() const { return packets_; }

private:
    bool receive(PacketBytes &packet) const;
    void choose(PacketBytes &packet);

    ipc::Descriptor socket_;
    size_t frame_bytes_;
    uint64_t seen_ = 0;
    std::minstd_rand random_;
    std::vector<PacketBytes> packets_;
};
} // namespace mapi::drivers::xdp
