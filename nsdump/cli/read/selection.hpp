// SPDX-License-Identifier: MIT
// cli: a name or CPU that the user asked for -> is it in the trace at all?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
// Throws UsageError with the available names.  An empty name selects everything; "#<id>" is a slice
// without a site, known only from its records.  A damaged trace may have lost names, so nothing is
// refused then.
void check_slice(TraceFile &trace, const std::string &name);
// Names for an error message; "none" if there are none.
std::string listed(std::span<const std::string> all);
void check_cpu(TraceFile &trace, const std::optional<uint32_t> &cpu);
} // namespace nsdump
