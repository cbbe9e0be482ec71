// SPDX-License-Identifier: MIT
// Heap: what clients left of it goes back to the system.
#pragma once

#include <chrono>
#include <optional>

namespace mapi::daemon
{
// Before the first thread: few arenas, since threads come and go with clients and each arena keeps what was free in it; and tables of
// functions are mappings of their own, which go back when they are freed.
void keep_heap_small();

// When free pages are given back: a little after clients have gone, and not for each of many.  One thread.
class HeapTrim
{
public:
    // A client has gone.
    void want();
    // For poll(); -1: any.
    int timeout_ms() const;
    // If it is due.
    void trim_when_due();

private:
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> due_;
};
} // namespace mapi::daemon
