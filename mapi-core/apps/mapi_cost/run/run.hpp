// SPDX-License-Identifier: MIT
// run: one load -> its packets through libmapi in this process, under a session, and the sums of the session's trace.
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
#include "trace_sums.hpp"
#include "mapi_cost/source/workload.hpp"

namespace mapi_cost
{
// What libnsprobe had to say.
class SessionError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct RunSettings {
    std::uint64_t packets = 200'000; // at least so many in a time pass; of a live device at most
    std::uint64_t seconds = 5;       // of a pass on a live device, or of its recording, at most
    unsigned batch_packets = MAPI_BATCH_MAX;
    nsp_clock_mode clock = NSP_CLOCK_ORDERED;
    nsp_counter_source source = NSP_SOURCE_AUTO;
    unsigned step_units = 10; // batches to count with single-stepping
};

// Share of the packets that reached a function, by place in the chain.
struct Reach {
    std::string function;
    std::uint64_t packets = 0;
    std::uint64_t passed = 0;
};

struct Pass {
    TraceSums sums;
    std::vector<Reach> reach;      // of the first flow
    std::uint64_t lost_copies = 0; // packets that found no room in a buffer
    MeanBytes bytes; // of the workload
    std::optional<Arrivals> arrivals = {}; // of a live device
    std::string remark = {};               // what the device had to say: that it was down
};

// In a trace, at most but for what is of no unit.
std::uint64_t records_per_unit(const Load &load);

// Packets through the chain, Quantity::kPacket and kFurther...
Pass run_packets(const Load &load, Field field, const RunSettings &settings, const TempFolder &folder);

// Calls before them bind symbols and fill caches; they are not counted.
inline constexpr std::uint64_t kWarmCalls = 32;

// Calls by this thread after the packet thread is done, so that nothing else is in their cost.
Pass run_calls(const Load &load, Quantity quantity, Field field, const RunSettings &settings, const TempFolder &folder);
} // namespace mapi_cost
