// SPDX-License-Identifier: MIT
// cli: problems found in the trace -> lines on standard error and the exit code.
#include "cli/read/finish.hpp"

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "analyse/losses.hpp"
#include "cli/commands.hpp"
#include "common/command/counted.hpp"
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
    return finish_reading(trace, merger.faults(), merger.is_over() && !merger.has_plan());
}

int finish_reading(TraceFile &trace, const StreamFaults &faults, bool is_over)
{
    const std::string &name = trace.source().name();
    for (const Damage &damage : trace.damage().places())
        command::tell("nsdump: {}: at byte {}: {}, {} skipped\n", name, damage.offset, damage.what,
                      command::counted(damage.bytes, "byte"));
    if (trace.missing_chunks() > 0)
        command::tell("nsdump: {}: {} missing\n", name,
                      command::counted(trace.missing_chunks(), "chunk is", "chunks are"));
    const bool is_damaged = trace.damage().chunks() > 0 || trace.missing_chunks() > 0;
    const Losses losses = losses_of(trace, is_damaged);
    if (!losses.has_footer)
        command::tell("nsdump: {}: {}\n", name, kNoFooter);
    if (losses.lost_sum() > 0)
        command::tell("nsdump: {}: {} while recording\n", name, losses.lost_words());
    if (losses.equation_holds == false)
        command::tell("nsdump: {}: the loss equation does not hold (run `nsdump check`)\n", name);
    if (faults.unknown_kind + faults.malformed_chunks > 0)
        command::tell("nsdump: {}: {} of unknown kind, {}\n", name,
                      command::counted(faults.unknown_kind, "record"),
                      command::counted(faults.malformed_chunks, "malformed chunk"));
    if (command_was_interrupted()) {
        command::tell("nsdump: interrupted; the output is incomplete\n");
        return kExitInterrupted;
    }
    if (losses.kernel_totals_missing)
        command::tell("nsdump: {}: the kernel's totals are missing: its losses are unknown\n",
                      name);
    // A reader that stopped early, at a limit, or read a part has not seen all records.
    const Incomplete incomplete =
        is_over ? incomplete_of(trace, losses, faults) : incomplete_so_far(trace);
    for (const std::string &reason : incomplete.reasons)
        command::tell("nsdump: {}: {}\n", name, reason);
    const bool has_findings = is_damaged || !losses.has_footer || losses.kernel_totals_missing ||
                              !losses.equation_holds.value_or(true) ||
                              faults.malformed_chunks > 0 || incomplete.any();
    return has_findings ? kExitFindings : kExitOk;
}
} // namespace nsdump
