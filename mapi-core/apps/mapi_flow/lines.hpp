// SPDX-License-Identifier: MIT
// lines: what threads have to say -> whole lines on standard output.
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
    // One line or several, each with its end.
    void print(const std::string &lines)
    {
        const std::lock_guard lock(mutex_);
        if (!ferror(stdout))
            fputs(lines.c_str(), stdout);
    }
    bool has_failed()
    {
        const std::lock_guard lock(mutex_);
        return ferror(stdout) != 0;
    }
    // False: something did not get out.
    bool flush()
    {
        const std::lock_guard lock(mutex_);
        return fflush(stdout) == 0 && !ferror(stdout);
    }

private:
    std::mutex mutex_;
};
} // namespace mapi_flow
