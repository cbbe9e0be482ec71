// SPDX-License-Identifier: MIT
// words: names of states and causes of loss, for tables and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "ipc/mapi.pb.h"

namespace mapi_info
{
// With the names that mapid's metrics use.
inline std::array<std::pair<const char *, uint64_t>, 8> drops_of(const mapi::ipc::Statistics &stats)
{
    return {{{"bad_record", stats.bad_record()},
             {"truncated", stats.truncated()},
             {"buffer_full", stats.buffer_full()},
             {"link_type", stats.link_type()},
             {"not_written", stats.not_written()},
             {"kernel", stats.kernel()},
             {"no_flow", stats.no_flow()},
             {"interface", stats.interface_drops()}}};
}

// Of one run; 0: none ran.
inline double mean_ns(uint64_t all_ns, uint64_t runs)
{
    return runs == 0 ? 0 : double(all_ns) / double(runs);
}

inline const char *state_of(const mapi::ipc::ListedDevice &device)
{
    return device.is_replaced() ? "replaced" : device.is_open() ? "open" : "closed";
}

inline const char *status_of(const mapi::ipc::ListedFlow &flow)
{
    static constexpr const char *kNames[] = {"new", "active", "finished",
                                             "closed"}; // as enum mapi_flow_status
    const int status = flow.info().status();
    return status >= 0 && status < int(std::size(kNames)) ? kNames[status] : "?";
}
} // namespace mapi_info
