// SPDX-License-Identifier: MIT
// analyse: one row of a calibration, the same for programs, the kernel and calibration.json.
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/correct/student.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
// Index of each kind of probe in tables of constants; what a record of a BPF program costs more:
// kCall with the call of its program, kBehind in a program right behind another record, without
// work that hides a part of it.
enum ProbeIndex { kPair = 0, kMark, kInit, kExit, kCall, kBehind, kProbes };
// Rows for pairs of slices that are not recorded by macros: kFirstWay + index of the way.
inline constexpr unsigned kFirstWay = 16;

// By how much a constant is larger if there is no work for the probe to overlap with.
struct Hidden {
    double inner = 0;
    double outer = 0;
    double inner_ci95 = 0; // of the difference; known for `overtaking` only
    // Of outer without work itself; known for `hidden` of the trace's entries.
    std::optional<double> outer_alone_ci95 = {};
};

// One row of a calibration, averaged over the processes that took part.
struct CalibrationRow {
    uint32_t cpu = NSLICE_ANY_CPU;
    unsigned probe = kPair;
    unsigned field = 0;
    double inner = 0;
    double inner_ci95 = 0;
    double outer = 0;
    double outer_ci95 = 0;
    uint64_t samples = 0;
    uint64_t trimmed = 0;
    double degrees = kManyDegrees;     // of freedom of the intervals
    std::optional<Hidden> hidden = {}; // if it was measured
    // Likewise: by how much it is larger if STOP overtakes as much work as it can, and START none.
    std::optional<Hidden> overtaking = {};
};
} // namespace nsdump
