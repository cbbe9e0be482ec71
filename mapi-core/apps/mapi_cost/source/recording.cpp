// SPDX-License-Identifier: MIT
// recording: runs TO_FILE until it has enough packets, the source ends, or the time is up.
#include "recording.hpp"

#include <algorithm>
#include <chrono>
#include <climits>

#include "mapi_cost/run/interrupt.hpp"
#include "mapi_cost/run/mapi_handle.hpp"

namespace mapi_cost
{
void record(const Source &source, std::uint64_t packets, std::uint64_t seconds,
            const std::string &path)
{
    using Clock = std::chrono::steady_clock;
    Flow flow(source.is_device ? mapi_create_flow(source.name.c_str())
                               : mapi_create_offline_flow(source.name.c_str(), MFF_DAG_ERF));
    const int file = flow.apply_to_file(path, int(std::min<std::uint64_t>(packets, INT_MAX)));
    flow.connect();
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    while (!flow.wait(20) && flow.file_state(file) != MAPI_FILE_DONE &&
           (!source.is_device || Clock::now() < end))
        stop_if_interrupted();
    stop_if_interrupted();
}
} // namespace mapi_cost
