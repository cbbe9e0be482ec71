// SPDX-License-Identifier: MIT
// analyse: the rules by which a session chose its slices -> those that did nothing.
#pragma once

#include <string>
#include <vector>

#include "decode/file_reader.hpp"

namespace nsdump
{
// One warning for each pattern of the session's rules (INFO session.slices) that matches no slice
// or mark of the programs, nor of the kernel if they applied to it (INFO kernel.slices), with the
// names that there are; and one if the rules turned off what is subtracted from programs' slices.
std::vector<std::string> selection_warnings(const TraceFile &trace);
} // namespace nsdump
