// SPDX-License-Identifier: MIT
// cli: command line -> a running program, watched without a signal handler.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace nsdump
{
class Child
{
public:
    // Starts argv; `prepare` runs in the child before exec.  Throws std::system_error when the program cannot be started.
    Child(const std::vector<std::string> &argv, const std::function<int()> &prepare);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Wait status once the program has ended.
    std::optional<int> poll();
    void terminate();
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
    std::optional<int> status_;
};

// Waits for at most `milliseconds` until a signal comes or the time is over.
void pause_for(int milliseconds);
} // namespace nsdump
