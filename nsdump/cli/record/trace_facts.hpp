// SPDX-License-Identifier: MIT
// cli: a finished trace -> how it was recorded, for `nsdump record --verbose`.
#pragma once

#include <string>

namespace nsdump
{
// Prints clock, rings, counters, calibration and the records of each CPU to standard error.
// Nothing for a pipe, which cannot be read again.
// On standard error: rules of --slices that did nothing.
void tell_unmatched_patterns(const std::string &path);

void tell_trace_facts(const std::string &path);
} // namespace nsdump
