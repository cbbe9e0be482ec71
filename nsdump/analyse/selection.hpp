// SPDX-License-Identifier: MIT
// analyse: the rules by which a session chose its slices -> those that did nothing.
#pragma once

#include <string>
#include <vector>

#include "decode/file_reader.hpp"

namespace nsdump
{
// One warning for each pattern of the session's rules (INFO session.slices) that matches no slice
// or mark of the programs, with the names that there are.
std::vector<std::string> unmatched_patterns(const TraceFile &trace);
} // namespace nsdump
