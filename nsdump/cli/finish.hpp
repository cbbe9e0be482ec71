// SPDX-License-Identifier: MIT
// cli: what was wrong with the trace -> lines on standard error and the exit code.
#pragma once

#include <string>

#include "decode/merge.hpp"

namespace nsdump
{
// For commands whose output is data: the findings must not be in it, nor be silent.
int finish_reading(TraceFile &trace, const Merger &merger);
void tell_warning(const std::string &trace, const std::string &warning);
} // namespace nsdump
