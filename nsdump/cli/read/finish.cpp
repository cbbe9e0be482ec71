// SPDX-License-Identifier: MIT
// cli: problems found in the trace -> lines on standard error and the exit code.
#include "cli/read/finish.hpp"

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "analyse/losses.hpp"
#include "cli/commands.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"

namespace nsdump
{
void tell_warning(const std::string &trace, const std::string &warning)
{
    command::tell("nsdump: {}: {}\n", trace, warning);
}

int finish_reading(TraceFile &trace, const Merger &merger)
{
    const std::string &name = trace.source().name();
    for (const Damage &damage : trace.damage().places())
        command::tell("nsdump: {}: at byte {}: {}, {} bytes skipped\n", name, damage.offset,
                      damage.what, damage.bytes);
    if (trace.missing_chunks() > 0)
        command::tell("nsdump: {}: {} chunks are missing\n", name, trace.missing_chunks());
    const bool is_damaged = trace.damage().chunks() > 0 || trace.missing_chunks() > 0;
    const Losses losses = losses_of(trace, is_damaged);
    if (!losses.has_footer)
        command::tell("nsdump: {}: {}\n", name, kNoFooter);
    if (losses.lost_sum() > 0)
        command::tell("nsdump: {}: {} while recording\n", name, losses.lost_words());
    if (losses.equation_holds == false)
        command::tell("nsdump: {}: the loss equation does not hold (run `nsdump check`)\n", name);
    const StreamFaults faults = merger.faults();
    if (faults.unknown_kind + faults.malformed_chunks > 0)
        command::tell("nsdump: {}: {} records of unknown kind, {} malformed chunks\n", name,
                      faults.unknown_kind, faults.malformed_chunks);
    if (command_was_interrupted()) {
        command::tell("nsdump: interrupted; the output is incomplete\n");
        return kExitInterrupted;
    }
    if (losses.kernel_totals_missing)
        command::tell("nsdump: {}: the kernel's totals are missing: its losses are unknown\n",
                      name);
    // A reader that stopped early, at a limit, has not seen all records.
    const Incomplete incomplete =
        merger.is_over() ? incomplete_of(trace, losses, faults) : incomplete_so_far(trace);
    for (const std::string &reason : incomplete.reasons)
        command::tell("nsdump: {}: {}\n", name, reason);
    const bool has_findings = is_damaged || !losses.has_footer || losses.kernel_totals_missing ||
                              !losses.equation_holds.value_or(true) ||
                              faults.malformed_chunks > 0 || incomplete.any();
    return has_findings ? kExitFindings : kExitOk;
}
} // namespace nsdump
