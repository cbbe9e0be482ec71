// SPDX-License-Identifier: MIT
// cli: a trace that comes through a pipe -> an unnamed file that takes its place.
#pragma once

namespace nsdump
{
// Afterwards standard input is a file that is read from its beginning.  Copies no more than the
// start of what is no trace.  Throws UsageError for a terminal, OutputError if there is no room,
// Interrupted on Ctrl-C.
void make_standard_input_a_file();
} // namespace nsdump
