// SPDX-License-Identifier: MIT
// user_counter: a counter of the PMU that this thread may read without a system call, or the reason why it may not.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

namespace calibrate
{
class UserCounter
{
public:
    // event: of PERF_TYPE_HARDWARE; config1: what the architecture wants for user reads.
    UserCounter(std::uint64_t event, std::uint64_t config1);
    ~UserCounter();
    UserCounter(const UserCounter &) = delete;
    UserCounter &operator=(const UserCounter &) = delete;

    // Empty: the kernel says that it may be read, here and now.
    const std::string &lacks() const { return lacks_; }
    std::uint32_t number() const { return number_; }
    // Not while it lacks anything.
    const volatile perf_event_mmap_page *page() const { return static_cast<const perf_event_mmap_page *>(page_); }
    std::uint64_t value() const; // by the system call

private:
    int file_ = -1;
    void *page_;
    std::uint32_t number_ = 0;
    std::string lacks_;
};

std::string why_not_opened(int err); // errno of perf_event_open
// What the page tells; to read all the same would end the process.  Empty: nothing is against it.
std::string why_not_readable(const perf_event_mmap_page &page);
} // namespace calibrate
