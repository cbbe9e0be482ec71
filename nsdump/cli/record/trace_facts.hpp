// SPDX-License-Identifier: MIT
// cli: a finished trace -> how it was recorded, for `nsdump record` and `nsdump kernel`.
#pragma once

#include <string>

namespace nsdump
{
// Both print to standard error, and nothing for a pipe, which cannot be read again.

// Patterns of --slices that match nothing, and interrupts that they turned off.
void tell_selection(const std::string &path);

// Clock, rings, counters, calibration and the records of each CPU.
void tell_trace_facts(const std::string &path);
} // namespace nsdump
