// SPDX-License-Identifier: MIT
// rates: cycles per packet -> packets a second on one core, and the share of line rates that is.
#pragma once

#include <optional>
#include <vector>

namespace mapi_cost
{
struct LineShare {
    unsigned gbit = 0;
    unsigned frame_bytes = 0;           // with the check sum, without preamble and gap
    double line_packets_per_second = 0; // of a full line
    double share = 0;                   // above 1: more than the line can bring
    double gbit_per_second = 0;         // that the core keeps up with, on the wire
};

struct Rates {
    double packets_per_second = 0;
    std::vector<LineShare> lines;
};

// Frames a second on a full Ethernet line: preamble and gap take 20 bytes more than the frame.
double line_packets_per_second(unsigned gbit, unsigned frame_bytes);

// 10, 25 and 100 Gbit/s; frames of 64 and 1500 bytes, or of the one size at which the cost was measured (0: any).
// None when the cost is not above zero.
std::optional<Rates> rates_of(double cycles_per_packet, double clock_hz, unsigned measured_frame_bytes);
} // namespace mapi_cost
