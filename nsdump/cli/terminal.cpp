// SPDX-License-Identifier: MIT
// cli: Ctrl-C -> a flag; long work -> a progress line on a terminal.
#include "cli/terminal.hpp"

#include <csignal>
#include <unistd.h>

#include <fmt/format.h>

namespace nsdump
{
namespace
{
volatile std::sig_atomic_t g_interrupted;

void on_signal(int)
{
    g_interrupted = 1;
}
} // namespace

void catch_interrupts()
{
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // seen as EPIPE, so that a file beside the pipe is not left behind
}

bool was_interrupted()
{
    return g_interrupted != 0;
}

Progress::Progress()
    : is_terminal_(isatty(STDERR_FILENO) == 1), next_(std::chrono::steady_clock::now() + std::chrono::seconds(1))
{
}

Progress::~Progress()
{
    if (is_shown_)
        fmt::print(stderr, "\r\033[K");
}

void Progress::show(std::uint64_t done_bytes, std::uint64_t all_bytes)
{
    if (!is_terminal_ || all_bytes == 0)
        return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_)
        return;
    next_ = now + std::chrono::milliseconds(200);
    is_shown_ = true;
    fmt::print(stderr, "\r{:3d} % of {} MB", done_bytes * 100 / all_bytes, all_bytes / 1'000'000);
}
} // namespace nsdump
