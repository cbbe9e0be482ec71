// SPDX-License-Identifier: MIT
// cli: a trace -> the index beside it, which is written if it is missing.
#pragma once

#include <optional>

#include "decode/seek/unit_index.hpp"

namespace nsdump
{
// Reads TRACE.idx if it is of just this trace, or else the whole trace.  None if the user
// interrupted it.
std::optional<UnitIndex> index_of(TraceFile &trace, bool is_quiet);
} // namespace nsdump
