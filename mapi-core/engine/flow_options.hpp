// SPDX-License-Identifier: MIT
// Flow options: numbers of mapi_set_flow_option() -> settings for functions that are applied
// afterwards.
#pragma once

#include <cstdint>

namespace mapi::engine
{
struct FlowOptions {
    uint64_t buffer_bytes = 0; // of each ring; 0: the function's default
    uint32_t snap_bytes = 0;   // of a packet that copies keep; 0: all
    bool is_in_engine = false; // no driver runs the function

    bool operator==(const FlowOptions &) const = default;
    // option: of enum mapi_flow_option.  Throws Error.
    void set(int option, uint64_t value);
    uint64_t get(int option) const;
};
} // namespace mapi::engine
