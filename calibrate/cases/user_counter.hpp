// SPDX-License-Identifier: MIT
// user_counter: a PMU counter readable by this thread without a system call, or why there is none.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

namespace calibrate
{
class UserCounter
{
public:
    // event: of PERF_TYPE_HARDWARE; config1: value that the architecture requires for user reads.
    UserCounter(uint64_t event, uint64_t config1);
    ~UserCounter();
    UserCounter(const UserCounter &) = delete;
    UserCounter &operator=(const UserCounter &) = delete;

    // Empty: the kernel currently allows reading the counter.
    const std::string &lacks() const { return lacks_; }
    uint32_t number() const { return number_; }
    // Only valid if lacks() is empty.
    const volatile perf_event_mmap_page *page() const
    {
        return static_cast<const perf_event_mmap_page *>(page_);
    }
    uint64_t value() const; // by the system call

private:
    int file_ = -1;
    void *page_;
    uint32_t number_ = 0;
    std::string lacks_;
};

std::string why_not_opened(int err); // errno of perf_event_open
// Reason from the counter's page, or empty.  Reading the counter despite a reason would kill the
// process.
std::string why_not_readable(const perf_event_mmap_page &page);
} // namespace calibrate
