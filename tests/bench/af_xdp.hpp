// SPDX-License-Identifier: MIT
// Packets from an XDP program through a socket of AF_XDP, which takes them away from the host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "way.hpp"

namespace bench
{
class AfXdp
{
public:
    enum class Time { kNone, kBeforePacket }; // the program writes it in front of the packet

    // Receives what arrives at the interface's first queue, in copy mode.  Throws KernelRefusal.
    AfXdp(const std::string &interface, Time time);
    ~AfXdp();
    AfXdp(const AfXdp &) = delete;
    AfXdp &operator=(const AfXdp &) = delete;

    Way way();

    // XDP_STATISTICS.
    struct Drops {
        uint64_t no_frame = 0;        // rx_dropped: most for lack of a frame in the fill ring
        uint64_t ring_full = 0;       // rx_ring_full
        uint64_t fill_ring_empty = 0; // how often; each such packet is in no_frame, too
        uint64_t invalid = 0;         // descriptors in the fill ring
    };
    Drops drops() const;
    uint64_t wakeups() const; // system calls for which the kernel asked

    // As errno of bind(2) with XDP_ZEROCOPY; 0: the driver of the interface has it.
    static int zero_copy_error(const std::string &interface);

private:
    struct State;
    std::unique_ptr<State> state_;
};
} // namespace bench
