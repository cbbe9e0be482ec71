// SPDX-License-Identifier: MIT
// cli: command line or process id -> a running program, watched without a signal handler; one started here waits for its word.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/descendants.hpp"

namespace nsdump
{
class Child
{
public:
    // A process that becomes argv with run(); `prepare` runs in it first.  Without run() it ends and argv never ran, also
    // when this process dies.  Throws std::system_error.
    Child(const std::vector<std::string> &argv, const std::function<int()> &prepare);
    ~Child();
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    // Throws std::system_error when the program cannot be started.
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
    int go_ = -1;     // a byte written here lets it run; -1: it does
    int report_ = -1; // where it tells why it cannot
    std::optional<int> status_;
};

// A process that somebody else started.
class RunningProcess
{
public:
    // Throws std::system_error when there is no such process.
    explicit RunningProcess(pid_t pid);
    ~RunningProcess();
    RunningProcess(const RunningProcess &) = delete;
    RunningProcess &operator=(const RunningProcess &) = delete;

    bool has_ended() const;

private:
    int fd_; // pidfd: stays with the process, whoever gets its number next
};
} // namespace nsdump
