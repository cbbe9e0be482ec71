// SPDX-License-Identifier: MIT
// compare: JSON of schema netslice-stats-1 -> the parts of its report that are compared.
#pragma once

#include <string>

#include "analyse/report.hpp"

namespace nsdump
{
// Whether the file begins as JSON does, and not as a trace.  False if it cannot be read.
bool is_stored_report(const std::string &path);
// Throws TraceError.
StatsReport parse_stored_report(const std::string &text, const std::string &name);
StatsReport read_stored_report(const std::string &path);
} // namespace nsdump
