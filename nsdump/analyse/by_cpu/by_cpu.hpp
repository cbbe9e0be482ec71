// SPDX-License-Identifier: MIT
// analyse: a trace whose threads stay on their CPUs -> all CPUs at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "analyse/by_cpu/cpu_part.hpp"

namespace nsdump
{
struct ByCpuOptions {
    unsigned threads = 1;
    bool is_stepping = false; // as of StatsCollector
    // As of AnalyseOptions; called by the calling thread only.
    std::function<bool(uint64_t, uint64_t)> progress;
};

// Null if CPUs depend on each other: a thread wrote on two of them, the kernel's records or epochs
// belong to slices of several, parts are damaged, or the trace has too many names for statistics by
// CPU.  Otherwise the merged parts of all CPUs in their order, so that the figures are the same, to
// the bit, for any number of threads.  `is_interrupted`: progress() returned false.
std::unique_ptr<CpuPart> read_by_cpu(const TraceFile &trace, const Correction &correction,
                                     const ByCpuOptions &options, bool &is_interrupted);
} // namespace nsdump
