// SPDX-License-Identifier: MIT
// terminal: Ctrl-C -> a flag; long work -> a progress line on a terminal.
#include "terminal.hpp"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

namespace calibrate
{
namespace
{
volatile std::sig_atomic_t interrupted = 0;

void on_signal(int)
{
    interrupted = 1;
}
} // namespace

void catch_interrupts()
{
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted()
{
    return interrupted != 0;
}

Progress::Progress(bool is_wanted) : is_on_(is_wanted && isatty(STDERR_FILENO))
{
}

Progress::~Progress()
{
    if (is_shown_)
        fmt::print(stderr, "\r\033[K");
}

void Progress::show(const std::string &line)
{
    if (!is_on_)
        return;
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    is_shown_ = true;
}
} // namespace calibrate
