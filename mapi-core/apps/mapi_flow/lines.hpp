// SPDX-License-Identifier: MIT
// lines: output of several threads -> whole lines on standard output, or on standard error when
// packets go to standard output.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

namespace mapi_flow
{
// Any thread may call it.  After a failed write, nothing more is written.
class Lines
{
public:
    explicit Lines(FILE *to) : to_(to) {}

    // One or more lines, each with its newline.
    void print(const std::string &lines)
    {
        const std::lock_guard lock(mutex_);
        if (!ferror(to_))
            fputs(lines.c_str(), to_);
    }
    bool has_failed()
    {
        const std::lock_guard lock(mutex_);
        return ferror(to_) != 0;
    }
    // False if a write failed.
    bool flush()
    {
        const std::lock_guard lock(mutex_);
        return fflush(to_) == 0 && !ferror(to_);
    }

private:
    FILE *const to_;
    std::mutex mutex_;
};
} // namespace mapi_flow
