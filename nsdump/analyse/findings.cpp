// SPDX-License-Identifier: MIT
// analyse: a trace that was read -> what is wrong with it, as lines for people.
#include "analyse/findings.hpp"

#include <utility>

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "analyse/losses.hpp"
#include "analyse/pauses.hpp"
#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
using command::counted;

// What the chunks and the footer say, however much of the records was read.
void add_damage(const TraceFile &trace, std::vector<std::string> &lines)
{
    for (const Damage &damage : trace.damage().places())
        lines.push_back(fmt::format("at byte {}: {}, {} skipped", damage.offset, damage.what,
                                    counted(damage.bytes, "byte")));
    if (trace.missing_chunks() > 0)
        lines.push_back(counted(trace.missing_chunks(), "chunk is", "chunks are") + " missing");
}

void add_losses(const Losses &losses, std::vector<std::string> &lines)
{
    if (!losses.has_footer)
        lines.emplace_back(kNoFooter);
    if (losses.lost_sum() > 0)
        lines.push_back(losses.lost_words() + " while recording");
    if (losses.equation_holds == false)
        lines.emplace_back("the loss equation does not hold (run `nsdump check`)");
}
} // namespace

Findings findings_of(TraceFile &trace, const StreamFaults &faults, bool is_over, bool is_stopped)
{
    Findings findings;
    add_damage(trace, findings.lines);
    const bool is_damaged = trace.damage().chunks() > 0 || trace.missing_chunks() > 0;
    const Losses losses = losses_of(trace, is_damaged);
    add_losses(losses, findings.lines);
    if (std::string words = pauses_of(trace).words(); !words.empty())
        findings.lines.push_back(std::move(words));
    if (faults.unknown_kind + faults.malformed_chunks > 0)
        findings.lines.push_back(fmt::format("{} of unknown kind, {}",
                                             counted(faults.unknown_kind, "record"),
                                             counted(faults.malformed_chunks, "malformed chunk")));
    if (is_stopped)
        return findings;
    if (losses.kernel_totals_missing)
        findings.lines.emplace_back("the kernel's totals are missing: its losses are unknown");
    // A reader that stopped early, at a limit, or read a part has not seen all records.
    Incomplete incomplete =
        is_over ? incomplete_of(trace, losses, faults) : incomplete_so_far(trace);
    findings.are_wrong = is_damaged || !losses.has_footer || losses.kernel_totals_missing ||
                         !losses.equation_holds.value_or(true) || faults.malformed_chunks > 0 ||
                         incomplete.any();
    for (std::string &reason : incomplete.reasons)
        findings.lines.push_back(std::move(reason));
    return findings;
}

std::string unmatched_words(uint64_t count)
{
    return counted(count, "STOP has", "STOPs have") +
           " no START in the parts that were read (from 100 ms before): left out";
}
} // namespace nsdump
