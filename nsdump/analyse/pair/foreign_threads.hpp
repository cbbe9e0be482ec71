// SPDX-License-Identifier: MIT
// analyse: do programs' records name their threads as the kernel's do?
#pragma once

#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
// Not where one ran in a pid namespace of its own, a container: which of the kernel's records are of its threads is not
// known, nor is which of the trace's threads are its own.  A number that is another thread's there must not be believed.
inline bool has_foreign_threads(const TraceFile &trace)
{
    return trace.has_kernel() && !trace.info("program.pid_namespace").empty();
}

// What that means; empty where it is not so.
inline std::string foreign_threads_warning(const TraceFile &trace)
{
    if (!has_foreign_threads(trace))
        return {};
    const std::string where = trace.info("program.pid_namespace") == "unknown" ? "a pid namespace that is not known (it had no /proc)"
                                                                               : "a pid namespace of its own";
    return "a program ran in " + where + ", so that its threads' numbers are not the kernel's: interrupts and switches are not taken out of "
           "programs' slices";
}
} // namespace nsdump
