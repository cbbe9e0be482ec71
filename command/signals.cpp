// SPDX-License-Identifier: MIT
// signals: Ctrl-C -> a flag; closed pipes and the limit of file sizes -> errors of write().
#include "signals.hpp"

#include <csignal>
#include <ctime>

namespace command
{
namespace
{
constexpr double kSameInterruptSeconds = 1;

volatile std::sig_atomic_t g_interrupted;
timespec g_first;
struct sigaction g_pipe_before, g_size_limit_before;

// The first one asks for an orderly end.  One Ctrl-C may well come twice, from the terminal and from whoever started
// us; one that comes later is from somebody who has waited enough.
void on_signal(int number)
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!g_interrupted) {
        g_first = now;
        g_interrupted = 1;
        return;
    }
    if (static_cast<double>(now.tv_sec - g_first.tv_sec) + static_cast<double>(now.tv_nsec - g_first.tv_nsec) / 1e9 <
        kSameInterruptSeconds)
        return;
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void ignore(int number, struct sigaction *before)
{
    struct sigaction action = {};
    action.sa_handler = SIG_IGN;
    sigaction(number, &action, before);
}
} // namespace

void catch_interrupts()
{
    struct sigaction action = {}, hangup = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) // nohup
        sigaction(SIGHUP, &action, nullptr);
    ignore(SIGPIPE, &g_pipe_before);       // seen as EPIPE, so that a file beside the pipe is not left behind
    ignore(SIGXFSZ, &g_size_limit_before); // seen as EFBIG, an output that cannot be written
}

void restore_ignored_signals()
{
    sigaction(SIGPIPE, &g_pipe_before, nullptr);
    sigaction(SIGXFSZ, &g_size_limit_before, nullptr);
}

bool was_interrupted()
{
    return g_interrupted != 0;
}

void pause_for(int milliseconds)
{
    const timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, nullptr);
}
} // namespace command
