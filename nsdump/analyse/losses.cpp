// SPDX-License-Identifier: MIT
// analyse: footer and chunk headers -> records issued, drained and lost.
#include "analyse/losses.hpp"

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
template <class Lost> uint64_t sum_of(const Lost &lost, uint64_t other)
{
    for (const uint64_t count : lost)
        other += count;
    return other;
}

// The numbers come from a file: if their sum overflows, the equation does not hold.
bool holds(const FooterCpu &row)
{
    uint64_t sum = row.drained;
    for (const uint64_t lost : row.lost)
        if (__builtin_add_overflow(sum, lost, &sum))
            return false;
    return sum == row.issued;
}
} // namespace

const char *lost_name(size_t cause)
{
    static constexpr const char *kNames[kLostCauses] = {"full",   "overwritten", "busy",
                                                        "closed", "write",       "torn"};
    return cause < kLostCauses ? kNames[cause] : "unknown";
}

const char *end_name(uint32_t end)
{
    switch (end) {
    case NSLICE_END_CLOSED: return "closed";
    case NSLICE_END_INTERRUPTED: return "interrupted";
    case NSLICE_END_KILLED: return "killed";
    case NSLICE_END_WRITE_ERROR: return "write-error";
    default: return "unknown";
    }
}

uint64_t CpuLosses::lost_sum() const
{
    return sum_of(lost, lost_other);
}

uint64_t Losses::lost_sum() const
{
    return sum_of(lost, lost_other + lost_without_cause);
}

std::string Losses::equation() const
{
    return is_issued_known()
               ? fmt::format("issued {} = drained {} + lost {}", issued, drained, lost_sum())
               : fmt::format("issued unknown, drained {}, known lost {}", drained, lost_sum());
}

std::string Losses::lost_words() const
{
    if (is_issued_known())
        return fmt::format("{} of {} {} lost", lost_sum(), command::counted(issued, "record"),
                           lost_sum() == 1 ? "was" : "were");
    return fmt::format("at least {} lost",
                       command::counted(lost_sum(), "record was", "records were"));
}

namespace
{
uint64_t records_in_chunks(const TraceFile &trace, bool is_kernel, uint32_t cpu)
{
    for (const CpuChunks &chunks : trace.cpus())
        if (chunks.cpu == cpu && chunks.is_kernel == is_kernel)
            return chunks.records;
    return 0;
}

CpuLosses losses_of_row(const TraceFile &trace, bool is_kernel, const FooterCpu &row,
                        bool is_damaged)
{
    CpuLosses cpu;
    cpu.is_kernel = is_kernel;
    cpu.cpu = row.cpu;
    cpu.issued = row.issued;
    cpu.drained = row.drained;
    for (size_t cause = 0; cause < row.lost.size(); ++cause)
        (cause < kLostCauses ? cpu.lost[cause] : cpu.lost_other) += row.lost[cause];
    cpu.in_chunks = records_in_chunks(trace, is_kernel, row.cpu);
    cpu.equation_holds = holds(row);
    cpu.chunks_agree = is_damaged || cpu.in_chunks == cpu.drained;
    return cpu;
}

// Adds the counts of the chunk headers, without footer or totals.
void add_chunks(const TraceFile &trace, bool is_kernel, Losses &losses)
{
    for (const CpuChunks &chunks : trace.cpus()) {
        if (chunks.is_kernel != is_kernel)
            continue;
        losses.drained += chunks.records;
        losses.lost_without_cause += chunks.lost_before;
        losses.issued += chunks.records + chunks.lost_before;
    }
}

// True if the equation holds for every row, and the CPU of every chunk has a row.
bool add_rows(const TraceFile &trace, bool is_kernel, const std::vector<FooterCpu> &rows,
              bool is_damaged, Losses &losses)
{
    bool all_hold = true;
    uint64_t in_rows = 0, in_all_chunks = 0;
    for (const FooterCpu &row : rows) {
        const CpuLosses cpu = losses_of_row(trace, is_kernel, row, is_damaged);
        all_hold = all_hold && cpu.equation_holds && cpu.chunks_agree;
        in_rows += cpu.in_chunks;
        losses.issued += cpu.issued;
        losses.drained += cpu.drained;
        losses.lost_other += cpu.lost_other;
        for (size_t cause = 0; cause < kLostCauses; ++cause)
            losses.lost[cause] += cpu.lost[cause];
        losses.by_cpu.push_back(cpu);
    }
    for (const CpuChunks &chunks : trace.cpus())
        in_all_chunks += chunks.is_kernel == is_kernel ? chunks.records : 0;
    return all_hold && in_rows == in_all_chunks;
}
} // namespace

Losses losses_of(const TraceFile &trace, bool is_damaged)
{
    Losses losses;
    losses.has_footer = trace.footer().has_value();
    if (trace.kernel_totals())
        losses.unnamed_kernel_sites = trace.kernel_totals()->unnamed_sites;
    if (!losses.has_footer) {
        add_chunks(trace, false, losses);
        add_chunks(trace, true, losses);
        return losses;
    }
    losses.dropped_sites = trace.footer()->dropped_sites;
    losses.equation_holds = add_rows(trace, false, trace.footer()->cpus, is_damaged, losses);
    losses.kernel_totals_missing = trace.has_kernel() && !trace.kernel_totals();
    if (losses.kernel_totals_missing) {
        add_chunks(trace, true, losses);
        if (losses.equation_holds == true)
            losses.equation_holds = std::nullopt;
    } else if (trace.kernel_totals() &&
               !add_rows(trace, true, trace.kernel_totals()->cpus, is_damaged, losses)) {
        losses.equation_holds = false;
    }
    return losses;
}
} // namespace nsdump
