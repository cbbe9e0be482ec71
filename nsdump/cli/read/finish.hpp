// SPDX-License-Identifier: MIT
// cli: problems found in the trace -> lines on standard error and the exit code.
#pragma once

#include <string>

#include "decode/merge.hpp"

namespace command
{
class Output;
}

namespace nsdump
{
// Ends the output of a command that has read a trace.  After Ctrl-C a file is not written, since a
// part would look like the whole: one of that name stays as it was.  Returns whether it
// was interrupted.
bool end_output(command::Output &output);

// For commands whose output is data: findings must not be mixed into it, nor be dropped.
int finish_reading(TraceFile &trace, const Merger &merger);
// `is_over`: all records were read.
int finish_reading(TraceFile &trace, const StreamFaults &faults, bool is_over);
void tell_warning(const std::string &trace, const std::string &warning);
} // namespace nsdump
