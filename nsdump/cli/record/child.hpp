// SPDX-License-Identifier: MIT
// cli: command line or process id -> a running program, watched without a signal handler.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/record/descendants.hpp"

namespace nsdump
{
class Child
{
public:
    // Forks a process that calls `prepare` and executes argv after run().  Without run(), or if
    // this process dies, it ends and argv is never executed.  Throws std::system_error.
    Child(const std::vector<std::string> &argv, const std::function<int()> &prepare);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Throws std::system_error if the program cannot be started.
    void run();
    // Wait status once the program has ended.
    std::optional<int> poll();
    void terminate();
    pid_t pid() const { return pid_; }
    Descendants &descendants() { return descendants_; }

private:
    Descendants descendants_;
    std::string name_;
    pid_t pid_ = -1;
    int go_ = -1;     // a byte written here lets it run; -1: already running
    int report_ = -1; // receives the error if it cannot run
    std::optional<int> status_;
};

// A process that was started by another one.
class RunningProcess
{
public:
    // Throws std::system_error if there is no such process.
    explicit RunningProcess(pid_t pid);
    ~RunningProcess();
    RunningProcess(const RunningProcess &) = delete;
    RunningProcess &operator=(const RunningProcess &) = delete;

    bool has_ended() const;

private:
    int fd_; // pidfd: refers to this process even if its number is reused
};
} // namespace nsdump
