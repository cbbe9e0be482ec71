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
    double hz = 0;         // 0: not in the trace
    double step_ticks = 0; // 0: not in the trace
    double read_ticks = 0;
    uint64_t start_ticks = 0;   // of the START calibration; 0 without one
    uint64_t start_mono_ns = 0; // CLOCK_MONOTONIC at that time

    double ns(double ticks) const { return ticks * 1e9 / hz; }
    double ns_per_tick() const { return 1e9 / hz; }
};

// The rate is computed from the pairs of the START and the END calibration (or the footer).  If
// they are too close together for an accurate quotient, or one is missing, the writer's first
// estimate is used.
Clock clock_of(const TraceFile &trace);

// What times since the start count from: the START calibration, or the first record if there is
// none before it.
uint64_t zero_ticks_of(const TraceFile &trace, const Clock &clock);

// A time before the start is the start.
uint64_t ticks_at(double since_start_ns, const Clock &clock, uint64_t zero_ticks);
// Of a length of time; 0 if the clock's rate is unknown.
uint64_t ticks_in(double length_ns, const Clock &clock);

// The wall clock at the start of the session; 0 if the trace does not have it.
int64_t start_unix_ns(const TraceFile &trace);
} // namespace nsdump
