// SPDX-License-Identifier: MIT
// report: counts and times -> the line of each second, the last line, and notes on what is missing.
#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"
#include "packets.hpp"
#include "sender.hpp"

namespace mapi_gen
{
struct Outcome {
    std::string method; // "xdp" or "af_packet"
    Counts counts;
    double seconds = 0;
    uint64_t dropped = 0; // by the interface, after it was sent
};

// Of the time between two counts.
std::string second_line(const Counts &before, const Counts &now, double passed_s, double at_s);

std::string last_line(const Outcome &outcome, const Options &options, const Packets &packets);

// On standard error: packets of the capture that are not sent, or not whole.
void tell_capture(const Packets &packets, const Options &options, unsigned mtu);

// On standard error: what the schedule, the kernel or the interface lost.
void tell_missing(const Outcome &outcome, const Options &options);
} // namespace mapi_gen
