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
// Returns when the word is not `seen`, when it was woken, at times without a reason, and after timeout_ms at the latest.
inline void wait_for_change(const std::atomic<uint32_t> &word, uint32_t seen, int timeout_ms)
{
    const timespec timeout = {timeout_ms / 1000, long(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// At most so many: a stranger may have any number of threads wait.
constexpr int kWokenMax = 64;

inline void wake(const std::atomic<uint32_t> &word)
{
    syscall(SYS_futex, &word, FUTEX_WAKE, kWokenMax, nullptr, nullptr, 0);
}
} // namespace mapi::ring
