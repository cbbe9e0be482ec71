// SPDX-License-Identifier: MIT
// Pulse: a word of shared memory that mapid updates regularly -> whether mapid still runs.
#pragma once

#include <atomic>
#include <cstdint>

#include <time.h>

namespace mapi::ipc
{
using PulseWord = std::atomic<uint64_t>; // 0: none has been written yet

constexpr int kPulseMs = 250;
// On a busy machine mapid may be preempted for a second or two.
constexpr uint64_t kSilenceNs = 3000000000;

inline uint64_t monotonic_ns()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

inline bool is_silent(const PulseWord &pulse)
{
    const uint64_t last_ns = pulse.load(std::memory_order_relaxed);
    const uint64_t now_ns = monotonic_ns();
    return last_ns != 0 && now_ns > last_ns && now_ns - last_ns > kSilenceNs;
}
} // namespace mapi::ipc
