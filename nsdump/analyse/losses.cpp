// SPDX-License-Identifier: MIT
// analyse: footer and chunk headers -> what was issued, drained and lost.
#include "analyse/losses.hpp"

namespace nsdump
{
namespace
{
template <class Lost> std::uint64_t sum_of(const Lost &lost, std::uint64_t other)
{
    for (const std::uint64_t count : lost)
        other += count;
    return other;
}

// Numbers from a file: a sum that does not fit cannot be equal to anything.
bool holds(const FooterCpu &row)
{
    std::uint64_t sum = row.drained;
    for (const std::uint64_t lost : row.lost)
        if (__builtin_add_overflow(sum, lost, &sum))
            return false;
    return sum == row.issued;
}
} // namespace

const char *lost_name(std::size_t cause)
{
    static constexpr const char *kNames[kLostCauses] = {"full", "overwritten", "busy", "closed", "write", "torn"};
    return cause < kLostCauses ? kNames[cause] : "unknown";
}

const char *end_name(std::uint32_t end)
{
    switch (end) {
    case NSLICE_END_CLOSED: return "closed";
    case NSLICE_END_INTERRUPTED: return "interrupted";
    case NSLICE_END_KILLED: return "killed";
    case NSLICE_END_WRITE_ERROR: return "write-error";
    default: return "unknown";
    }
}

std::uint64_t CpuLosses::lost_sum() const
{
    return sum_of(lost, lost_other);
}

std::uint64_t Losses::lost_sum() const
{
    return sum_of(lost, lost_other + lost_without_cause);
}

Losses losses_of(const TraceFile &trace, bool is_damaged)
{
    Losses losses;
    const auto in_chunks = [&](std::uint32_t cpu) -> std::uint64_t {
        for (const CpuChunks &chunks : trace.cpus())
            if (chunks.cpu == cpu)
                return chunks.records;
        return 0;
    };
    if (!trace.footer()) {
        for (const CpuChunks &chunks : trace.cpus()) {
            losses.drained += chunks.records;
            losses.lost_without_cause += chunks.lost_before;
        }
        losses.issued = losses.drained + losses.lost_without_cause;
        return losses;
    }
    losses.has_footer = true;
    losses.dropped_sites = trace.footer()->dropped_sites;
    bool all_hold = true;
    std::uint64_t in_rows = 0;
    for (const FooterCpu &row : trace.footer()->cpus) {
        CpuLosses cpu;
        cpu.cpu = row.cpu;
        cpu.issued = row.issued;
        cpu.drained = row.drained;
        for (std::size_t cause = 0; cause < row.lost.size(); ++cause)
            (cause < kLostCauses ? cpu.lost[cause] : cpu.lost_other) += row.lost[cause];
        cpu.in_chunks = in_chunks(row.cpu);
        cpu.equation_holds = holds(row);
        cpu.chunks_agree = is_damaged || cpu.in_chunks == cpu.drained;
        all_hold = all_hold && cpu.equation_holds && cpu.chunks_agree;
        in_rows += cpu.in_chunks;
        losses.issued += cpu.issued;
        losses.drained += cpu.drained;
        losses.lost_other += cpu.lost_other;
        for (std::size_t cause = 0; cause < kLostCauses; ++cause)
            losses.lost[cause] += cpu.lost[cause];
        losses.by_cpu.push_back(cpu);
    }
    std::uint64_t in_all_chunks = 0;
    for (const CpuChunks &chunks : trace.cpus())
        in_all_chunks += chunks.records;
    losses.equation_holds = all_hold && in_rows == in_all_chunks; // a CPU with chunks but no row breaks it too
    return losses;
}
} // namespace nsdump
