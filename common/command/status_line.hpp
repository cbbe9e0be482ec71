// SPDX-License-Identifier: MIT
// status_line: progress -> one line on a terminal, updated in place; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace command
{
class StatusLine
{
public:
    explicit StatusLine(bool is_wanted = true);
    ~StatusLine(); // erases the line
    StatusLine(const StatusLine &) = delete;
    StatusLine &operator=(const StatusLine &) = delete;

    bool is_on() const { return is_on_; }
    void show(const std::string &line);
    void clear();

private:
    bool is_on_;
    bool is_shown_ = false;
};

// Share of a file read so far; shows nothing during the first second.
class ReadProgress
{
public:
    explicit ReadProgress(bool is_wanted = true) : line_(is_wanted) {}
    void show(uint64_t done_bytes, uint64_t all_bytes);

private:
    using Clock = std::chrono::steady_clock;

    StatusLine line_;
    Clock::time_point next_ = Clock::now() + std::chrono::seconds(1);
};
} // namespace command
