// SPDX-License-Identifier: MIT
// rates: cycles per packet -> packets per second on one core, and that as a share of line rates.
#pragma once

#include <optional>
#include <vector>

namespace mapi_cost
{
struct LineShare {
    unsigned gbit = 0;
    unsigned frame_bytes = 0;           // including the checksum, excluding preamble and gap
    double line_packets_per_second = 0; // at line rate
    double share = 0;                   // above 1: faster than the line
    double gbit_per_second = 0;         // that the core can sustain, on the wire
};

struct Rates {
    double packets_per_second = 0;
    std::vector<LineShare> lines;
};

// Frames per second at Ethernet line rate; preamble and gap add 20 bytes to each frame.
double line_packets_per_second(unsigned gbit, unsigned frame_bytes);

// 10, 25 and 100 Gbit/s; frames of 64 and 1500 bytes, or only the size at which the cost was
// measured (0: any). Nullopt if the cost is not positive.
std::optional<Rates> rates_of(double cycles_per_packet, double clock_hz,
                              unsigned measured_frame_bytes);
} // namespace mapi_cost
