// SPDX-License-Identifier: MIT
// run: one load -> its packets through libmapi in this process, under a session, and the sums of
// the session's trace.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nsprobe/session.h>

#include "arrivals.hpp"
#include "mapi_cost/source/scenario.hpp"
#include "mapi_cost/source/temp_folder.hpp"
#include "mapi_cost/source/workload.hpp"
#include "trace_sums.hpp"

namespace mapi_cost
{
// An error from libnsprobe, with its text.
class SessionError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct RunSettings {
    std::uint64_t packets =
        200'000; // in a time pass: the minimum for a capture, the limit for a live device
    std::uint64_t seconds = 5; // limit of a pass on a live device, or of its recording
    unsigned batch_packets = MAPI_BATCH_MAX;
    nsp_clock_mode clock = NSP_CLOCK_ORDERED;
    nsp_counter_source source = NSP_SOURCE_AUTO;
    unsigned step_units = 10; // batches to count by single-stepping
};

// Share of the packets that reached a function, by position in the chain.
struct Reach {
    std::string function;
    std::uint64_t packets = 0;
    std::uint64_t passed = 0;
};

struct Pass {
    TraceSums sums;
    std::vector<Reach> reach;              // of the first flow
    std::uint64_t lost_copies = 0;         // packets dropped because a buffer was full
    MeanBytes bytes;                       // of the workload
    std::optional<Arrivals> arrivals = {}; // only for a live device
    std::string remark = {};               // the device's message, for example that it was down
};

// An upper bound for a trace, except for records outside of units.
std::uint64_t records_per_unit(const Load &load);

// Runs packets through the chain, for Quantity::kPacket and kFurther...
Pass run_packets(const Load &load, Field field, const RunSettings &settings,
                 const TempFolder &folder);

// The first calls bind symbols and fill caches; they are not counted.
inline constexpr std::uint64_t kWarmCalls = 32;

// Measures calls by this thread after the packet thread is done, so that their cost contains
// nothing else.
Pass run_calls(const Load &load, Quantity quantity, Field field, const RunSettings &settings,
               const TempFolder &folder);
} // namespace mapi_cost
