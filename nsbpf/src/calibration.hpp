// SPDX-License-Identifier: MIT
// Calibration: what a record costs on a tracepoint of this machine, on each CPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clock_line.hpp"
#include "mapped_ring.hpp"
#include "programs.hpp"

namespace nsbpf
{
using Rings = std::vector<std::unique_ptr<MappedRing>>; // by CPU

// Calls a tracepoint on each CPU that this thread may use.  No other programs write meanwhile.
// The costs inside programs are those of probes in users' programs if these are recorded, and
// otherwise of points.  Returns the payload of a chunk.  Throws Refusal.
std::string calibrate(Programs &programs, Rings &rings, uint32_t phase, const ClockLine &clock);
} // namespace nsbpf
