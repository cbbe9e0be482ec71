// SPDX-License-Identifier: MIT
// cli: Ctrl-C -> a flag; long work -> a progress line on a terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace nsdump
{
// After SIGINT, SIGTERM or SIGHUP was_interrupted() is true and the command ends with what it has; one that comes more
// than a second later kills.  A closed pipe and the limit of file sizes become errors of write().
void catch_interrupts();
bool was_interrupted();

// In a child that becomes another program.
void restore_ignored_signals();

// Writes to standard error, and only when that is a terminal and the work takes longer than a second.
class Progress
{
public:
    Progress();
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void show(std::uint64_t done_bytes, std::uint64_t all_bytes);

private:
    bool is_terminal_;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point next_;
};
} // namespace nsdump
