// SPDX-License-Identifier: MIT
// cli: what the user asks for by name -> is it in the trace at all?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
// Throws UsageError with the names that there are.  An empty name asks for all; "#<id>" names a slice without a site, which
// only its records tell.  A damaged trace may have lost names: nothing is refused then.
void check_slice(TraceFile &trace, const std::string &name);
void check_cpu(TraceFile &trace, const std::optional<std::uint32_t> &cpu);
} // namespace nsdump
