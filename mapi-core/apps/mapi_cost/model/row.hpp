// SPDX-License-Identifier: MIT
// row: the cost of a scenario, and the rates that it allows: cycles per packet -> packets per
// second on one core, and that as a share of line rates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mapi_cost/run/cost.hpp"
#include "mapi_cost/run/run.hpp"
#include "mapi_cost/source/scenario.hpp"

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

struct RowPart {
    std::string name;
    std::optional<double> instructions;
    std::optional<double> cycles;
    bool is_counted = true;
};

// In the time pass, and in the pass that counts instructions.
struct LiveArrivals {
    Arrivals timed;
    Arrivals counted;
};

struct Row {
    Scenario scenario;
    std::optional<Measured> instructions;
    std::optional<Measured> cycles;
    std::vector<RowPart> parts;       // empty for a difference
    std::vector<Reach> reach;         // in the time pass
    std::vector<Reach> counted_reach; // in the instruction pass
    MeanBytes bytes;
    double batch_share = 1; // batches per packet, compared with full ones
    uint64_t lost_copies = 0;
    LiveArrivals arrivals = {}; // only for a live device
    std::optional<Rates> rates;
    std::string
        missing; // which figures or intervals are unavailable, why, and the remedy; empty if none

    std::optional<double> driver_read_cycles() const; // the driver's cost per packet
};
} // namespace mapi_cost
