// SPDX-License-Identifier: MIT
// cli: problems found in the trace -> lines on standard error and the exit code.
#include "cli/read/finish.hpp"

#include "analyse/findings.hpp"
#include "cli/commands.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"

namespace nsdump
{
void tell_warning(const std::string &trace, const std::string &warning)
{
    command::tell("nsdump: {}: {}\n", trace, warning);
}

bool end_output(command::Output &output)
{
    const bool is_interrupted = command_was_interrupted();
    if (!is_interrupted || !output.is_file())
        output.finish();
    if (!is_interrupted)
        return false;
    command::tell("nsdump: interrupted; {}\n", output.is_file() ? output.path() + " is not written"
                                                                : "the output is incomplete");
    return true;
}

int finish_reading(TraceFile &trace, const Merger &merger)
{
    return finish_reading(trace, merger.faults(), merger.is_over() && !merger.has_plan());
}

int finish_reading(TraceFile &trace, const StreamFaults &faults, bool is_over)
{
    const bool is_interrupted = command_was_interrupted();
    const Findings findings = findings_of(trace, faults, is_over, is_interrupted);
    for (const std::string &line : findings.lines)
        tell_warning(trace.source().name(), line);
    if (is_interrupted)
        return kExitInterrupted;
    return findings.are_wrong ? kExitFindings : kExitOk;
}
} // namespace nsdump
