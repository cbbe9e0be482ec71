// SPDX-License-Identifier: MIT
// analyse: footer and chunk headers -> records issued, drained and lost, and the loss equation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/file_reader.hpp"

namespace nsdump
{
inline constexpr size_t kLostCauses = NSLICE_LOST_CAUSES;
const char *lost_name(size_t cause); // full, overwritten, busy, closed, write, torn
const char *end_name(uint32_t end);  // closed, interrupted, killed, write-error, unknown

struct CpuLosses {
    bool is_kernel = false;
    uint32_t cpu = 0;
    uint64_t issued = 0;
    uint64_t drained = 0;
    std::array<uint64_t, kLostCauses> lost{};
    uint64_t lost_other = 0;     // causes unknown to this reader
    uint64_t in_chunks = 0;      // records declared by the chunk headers of this CPU
    bool equation_holds = false; // issued = drained + lost
    bool chunks_agree = false;   // drained = in_chunks, or chunks are damaged or missing

    uint64_t lost_sum() const;
    std::string title() const
    {
        return (is_kernel ? "kernel, cpu " : "cpu ") + std::to_string(cpu);
    }
};

struct Losses {
    bool has_footer = false;
    uint64_t issued = 0; // as far as known, see is_issued_known()
    uint64_t drained = 0;
    std::array<uint64_t, kLostCauses> lost{};
    uint64_t lost_other = 0;
    uint64_t lost_without_cause = 0;    // without a footer: losses up to the last chunks
    std::optional<bool> equation_holds; // none if the number of issued records is unknown
    std::vector<CpuLosses> by_cpu;
    uint64_t dropped_sites = 0;
    bool kernel_totals_missing = false; // although there are kernel chunks
    uint64_t unnamed_kernel_sites = 0;

    uint64_t lost_sum() const;
    // The footer holds the number of issued records, the kernel's totals those issued to its rings.
    // Without them there may have been more.
    bool is_issued_known() const { return has_footer && !kernel_totals_missing; }
    // "issued 5 = drained 4 + lost 1", or the known part of it.
    std::string equation() const;
    // "1 of 5 records were lost", or the known number of lost records.
    std::string lost_words() const;
};

// Why there is no footer, and the consequence.
inline constexpr const char *kNoFooter =
    "no footer: the recorder did not finish (_exit, exec, a signal, a crash); the trace is "
    "complete up to the last whole chunk; an unknown "
    "number of records that were still in the rings is missing";

// `is_damaged`: chunks are missing or damaged, so their records are not expected.
Losses losses_of(const TraceFile &trace, bool is_damaged);
} // namespace nsdump
