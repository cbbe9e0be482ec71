// SPDX-License-Identifier: MIT
// decode: pairs of ticks and nanoseconds -> the clock's rate; ticks -> nanoseconds.
#pragma once

#include <cstdint>
#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
struct Clock {
    std::string source;
    std::string mode;
    double hz = 0;         // 0: the trace does not tell
    double step_ticks = 0; // 0: not told
    double read_ticks = 0;
    std::uint64_t start_ticks = 0; // of the START calibration, 0 without one

    double ns(double ticks) const { return ticks * 1e9 / hz; }
};

// The rate comes from the pairs of the START and the END calibration (or the footer); where the two are too close
// together for a good quotient, or one is missing, from the writer's first estimate.
Clock clock_of(const TraceFile &trace);
} // namespace nsdump
