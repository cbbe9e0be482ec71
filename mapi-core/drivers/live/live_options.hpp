// SPDX-License-Identifier: MIT
// Live options: the settings that all drivers of live sources have, and the delay that follows from
// them.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/driver.h>

namespace mapi::drivers
{
// Indices of the options.  That of a driver's own option is kLiveOptions.
enum LiveOption { kBufferMb, kSnaplen, kBlockTimeoutMs, kPromiscuous, kOutgoing, kLiveOptions };

// For a driver's table; own: an option that only this driver has.
constexpr std::array<mapi_driver_option, kLiveOptions + 2>
live_options(uint64_t least_buffer_mb, uint64_t most_buffer_mb, const mapi_driver_option &own)
{
    return {{
        {"buffer_mb", 64, least_buffer_mb, most_buffer_mb},
        {"snaplen", 262144, 64, 262144},
        {"block_timeout_ms", 10, 1, 1000},
        {"promiscuous", 1, 0, 1},
        {"outgoing", 1, 0, 1},
        own,
        {nullptr, 0, 0, 0},
    }};
}

constexpr uint64_t kWaitMs = 10; // maximum time that wait() waits for a packet
constexpr uint64_t kNsPerMs = 1000000;

// Maximum time between a packet's arrival and its delivery.
constexpr uint64_t live_delay_ms(uint64_t block_timeout_ms)
{
    return block_timeout_ms + 2 * kWaitMs;
}
} // namespace mapi::drivers
