// SPDX-License-Identifier: MIT
// ctf: the clock of a trace -> the clock description of CTF.
#pragma once

#include <cstdint>

#include "decode/file_reader.hpp"

namespace nsdump
{
// Seconds since 1970 = offset_s + (offset + ticks) / hz, as CTF computes them.
struct CtfClock {
    bool is_rate_known = false; // otherwise a tick is taken as a nanosecond
    uint64_t hz = 1'000'000'000;
    int64_t offset_s = 0;
    uint64_t offset = 0; // ticks, below hz
};

// The offset places the first calibration at the session's start by the wall clock, so dates are
// right to some milliseconds; differences are exact.
CtfClock ctf_clock_of(const TraceFile &trace);
} // namespace nsdump
