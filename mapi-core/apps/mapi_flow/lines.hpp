// SPDX-License-Identifier: MIT
// lines: what threads have to say -> whole lines on standard output.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

namespace mapi_flow
{
// Any thread.
class Lines
{
public:
    void print(const std::string &line)
    {
        const std::lock_guard lock(mutex_);
        fputs((line + "\n").c_str(), stdout);
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
