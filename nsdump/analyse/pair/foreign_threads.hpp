// SPDX-License-Identifier: MIT
// analyse: do programs' records use the same thread numbers as the kernel's?
#pragma once

#include <string>

#include "decode/file_reader.hpp"

namespace nsdump
{
// They do not if a program ran in its own pid namespace (a container).  It is then unknown which
// kernel records belong to its threads and which of the trace's threads are its own: the same
// number may denote another thread.
inline bool has_foreign_threads(const TraceFile &trace)
{
    return trace.has_kernel() && !trace.info("program.pid_namespace").empty();
}

// The consequence, as a warning; empty if there are none.
inline std::string foreign_threads_warning(const TraceFile &trace)
{
    if (!has_foreign_threads(trace))
        return {};
    const std::string where = trace.info("program.pid_namespace") == "unknown"
                                  ? "an unknown pid namespace (it had no /proc)"
                                  : "a pid namespace of its own";
    return "a program ran in " + where +
           ", so its threads' numbers are not the kernel's: interrupts and switches are not "
           "subtracted from "
           "programs' slices";
}
} // namespace nsdump
