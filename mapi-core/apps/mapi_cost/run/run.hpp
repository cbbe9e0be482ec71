// SPDX-License-Identifier: MIT
// run: one load -> packets of a capture or of a live device through libmapi in this process, or
// calls of it, under a session -> the sums of the session's trace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mapi/results.h>

#include "connected_flows.hpp"
#include "mapi_cost/source/scenario.hpp"
#include "mapi_cost/source/temp_folder.hpp"
#include "mapi_cost/source/workload.hpp"
#include "session.hpp"
#include "trace_sums.hpp"

namespace mapi_cost
{
enum DropCause {
    kDropKernel,     // its buffer was full because the packet thread was too slow
    kDropInterface,  // dropped by the interface
    kDropBufferFull, // TO_BUFFER, or the result ring of a function, was full
    kDropLinkType,
    kDropNotWritten,
    kDropCauses
};

// "kernel", "buffer_full".
const char *drop_name(size_t cause);

struct Arrivals {
    double seconds = 0;
    uint64_t packets = 0; // that reached the engine
    uint64_t wire_bytes = 0;
    uint64_t batches = 0;         // in the trace
    uint64_t batched_packets = 0; // in these batches
    std::array<uint64_t, kDropCauses> drops{};

    double mean_batch() const
    {
        return batches > 0 ? double(batched_packets) / double(batches) : 0;
    }
    uint64_t dropped() const;
    void add(const Arrivals &other);
};

// Leaves `batches` at 0, because the device does not count them.
Arrivals arrivals_of(const mapi_stat_t &stats, double seconds);

struct Pass {
    TraceSums sums;
    std::vector<Reach> reach;              // of the first flow
    uint64_t lost_copies = 0;              // packets dropped because a buffer was full
    MeanBytes bytes;                       // of the workload
    double batch_share = 1;                // its batches per packet, compared with full ones
    std::optional<Arrivals> arrivals = {}; // only for a live device
    std::string remark = {};               // the device's message, for example that it was down
};

// An upper bound for a trace, except for records outside of units.
uint64_t records_per_unit(const Load &load);

// Their sum is the cost of a packet.
extern const std::vector<std::string> kPacketSlices;

// Counts instructions of the packets of a load, for Quantity::kPacket and kFurther...
Pass run_counted(const Load &load, const RunSettings &settings, const TempFolder &folder);

// Passes for time, in which loads take turns.
inline constexpr unsigned kTimedPasses = 8;

struct TimedRun {
    const Load *load;
    InsideFactors inside; // of a thinned run of the same load
};

// Times each load once, in this order, in one session.
std::vector<Pass> run_timed(const std::vector<TimedRun> &runs, const RunSettings &settings,
                            const TempFolder &folder);

// The same packets with random thinning, for a fraction of a second.
nsdump::StatsReport run_thinned(const Load &load, const RunSettings &settings,
                                const TempFolder &folder);

// The first calls bind symbols and fill caches; they are not counted.
inline constexpr uint64_t kWarmCalls = 32;

// Measures calls by this thread after the packet thread is done, so that their cost contains
// nothing else.
Pass run_calls(const Load &load, Quantity quantity, Field field, const RunSettings &settings,
               const TempFolder &folder);

// Runs until the packets or seconds of `settings` are reached.  step_every: distance of units to
// single-step.
Pass run_live(const Load &load, const std::string &device, Field field, uint64_t step_every,
              const RunSettings &settings, const TempFolder &folder);
} // namespace mapi_cost
