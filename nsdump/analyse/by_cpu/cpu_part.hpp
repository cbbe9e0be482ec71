// SPDX-License-Identifier: MIT
// analyse: the records of one CPU -> its slices' statistics, apart from all other CPUs.
#pragma once

#include <functional>

#include "analyse/by_cpu/thread_owners.hpp"
#include "analyse/correct/correction.hpp"
#include "analyse/nesting_seen.hpp"
#include "analyse/pair/unpaired.hpp"
#include "analyse/statistics/stats.hpp"
#include "decode/cpu_stream.hpp"

namespace nsdump
{
// What one CPU, or several that were merged in their order, contribute to the report.
struct CpuPart {
    CpuPart(const Correction &correction, size_t counters, bool is_stepping)
        : statistics(correction, counters, is_stepping)
    {
    }
    void merge(CpuPart &&other);

    StatsCollector statistics;
    Unpaired unpaired;
    StreamFaults faults;
    bool has_nested = false; // see NestingSeen
};

// What the readers of a trace's CPUs have in common.
struct CpuReading {
    const TraceFile &trace;
    ThreadOwners &owners;
};

// Reads the CPU at `cpu_index` of trace.cpus() into an empty part.  May run at the same time as
// others.  Ends early if `continues` returns false, which it is asked with the number of records
// read since it was last asked, or if the CPU cannot be read apart, which it reports to
// `reading.owners`.  `ahead`: of the calling thread, see CpuStream::next_payload().
void read_cpu(const CpuReading &reading, uint32_t cpu_index, FasterWay *ahead,
              const std::function<bool(uint64_t)> &continues, CpuPart &part);
} // namespace nsdump
