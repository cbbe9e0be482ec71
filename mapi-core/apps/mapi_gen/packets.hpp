// SPDX-License-Identifier: MIT
// packets: a frame, or a capture -> what is sent, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "frame.hpp"

namespace mapi_gen
{
// what(): what, where, and what to do, in one line.
class Refusal : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct Packets {
    struct Place {
        size_t offset;
        uint32_t bytes; // without the frame's checksum
    };

    std::vector<uint8_t> bytes; // of all packets
    std::vector<Place> places;
    uint64_t longest_bytes = 0, all_wire_bytes = 0;
    uint32_t source_ports = 1; // more: of the only packet, which was generated
    bool is_generated = true;

    // Packets of the capture that are not sent, or not as they were.
    uint64_t too_long = 0;  // for the interface's MTU
    uint64_t too_short = 0; // no Ethernet header
    uint64_t cut = 0;       // sent as far as they were captured

    std::span<const uint8_t> packet(size_t number) const
    {
        return {bytes.data() + places[number].offset, places[number].bytes};
    }
    // Different ones: sending threads count through these.
    uint64_t variants() const { return is_generated ? source_ports : places.size(); }
    uint64_t longest() const { return longest_bytes; }
    double mean_wire_bytes() const { return double(all_wire_bytes) / double(places.size()); }
    void add(std::span<const uint8_t> packet);
};

// Throws Refusal if the frame does not fit the MTU.
Packets generate(const FrameSetup &setup, unsigned mtu);

constexpr uint64_t kMostCaptureBytes = uint64_t{1} << 30; // packets are sent from memory

// Throws Refusal if the file cannot be read, is not of Ethernet, has nothing to send or more than
// most_bytes, or after Ctrl-C.
Packets read_capture(const std::string &path, unsigned mtu,
                     uint64_t most_bytes = kMostCaptureBytes);

// Whether an interface with this MTU takes the frame: a VLAN tag does not count.
bool fits(std::span<const uint8_t> frame, unsigned mtu);
} // namespace mapi_gen
