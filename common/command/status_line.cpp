// SPDX-License-Identifier: MIT
// status_line: progress -> one line on a terminal, updated in place.
#include "status_line.hpp"

#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

namespace command
{
StatusLine::StatusLine(bool is_wanted) : is_on_(is_wanted && isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine()
{
    clear();
}

void StatusLine::show(const std::string &line)
{
    if (!is_on_)
        return;
    std::fputs(("\r\033[K" + line).c_str(), stderr); // fmt::print would throw on a write error
    std::fflush(stderr);
    is_shown_ = true;
}

void StatusLine::clear()
{
    if (is_shown_)
        std::fputs("\r\033[K", stderr);
    is_shown_ = false;
}

void ReadProgress::show(uint64_t done_bytes, uint64_t all_bytes)
{
    if (!line_.is_on() || all_bytes == 0)
        return;
    const auto now = Clock::now();
    if (now < next_)
        return;
    next_ = now + std::chrono::milliseconds(200);
    line_.show(
        fmt::format("{:3d} % of {} MB", done_bytes * 100 / all_bytes, all_bytes / 1'000'000));
}
} // namespace command
