// SPDX-License-Identifier: MIT
// lines: what threads have to say -> whole lines on standard output, or on standard error where packets go to the former.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

namespace mapi_flow
{
// Any thread.  Once something did not get out nothing more is tried.
class Lines
{
public:
    explicit Lines(FILE *to) : to_(to) {}

    // One line or several, each with its end.
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
    // False: something did not get out.
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
