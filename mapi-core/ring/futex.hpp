// SPDX-License-Identifier: MIT
// Futex: waits for a word to change, across processes (futex(2)).
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mapi::ring
{
// Returns if the word is not `seen`, on a wake-up, spuriously, or after timeout_ms.
inline void wait_for_change(const std::atomic<uint32_t> &word, uint32_t seen, int timeout_ms)
{
    const timespec timeout = {timeout_ms / 1000, long(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// A limit, since a client may have any number of threads waiting.
constexpr int kWokenMax = 64;

inline void wake(const std::atomic<uint32_t> &word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE, kWokenMax, nullptr, nullptr, 0);
}
} // namespace mapi::ring
