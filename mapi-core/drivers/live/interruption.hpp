// SPDX-License-Identifier: MIT
// Interruption: interrupt() on any thread -> wait() returns on the device's thread.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

namespace mapi::drivers
{
class Interruption
{
public:
    Interruption() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Interruption() { close(wake_); }
    Interruption(const Interruption &) = delete;
    Interruption &operator=(const Interruption &) = delete;

    void request()
    {
        const uint64_t one = 1;
        is_requested_ = true;
        if (write(wake_, &one, sizeof(one)) < 0) {
            // wait() sees the flag some milliseconds later
        }
    }
    bool is_requested() const { return is_requested_.load(std::memory_order_relaxed); }
    // Readable once it is requested.
    int descriptor() const { return wake_; }

private:
    const int wake_;
    std::atomic<bool> is_requested_ = false;
};
} // namespace mapi::drivers
