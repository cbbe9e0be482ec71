// SPDX-License-Identifier: MIT
// interrupt: Ctrl-C -> a flag, looked at wherever the program waits.
#include "interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace mapi_cost
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
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART); // a second Ctrl-C ends a program that hangs
    for (const int number : {SIGINT, SIGTERM})
        sigaction(number, &action, nullptr);
    struct sigaction hangup = {};
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) // as nohup leaves it
        sigaction(SIGHUP, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // seen as EPIPE, so that temporary files go
}

bool was_interrupted()
{
    return g_interrupted != 0;
}

void stop_if_interrupted()
{
    if (was_interrupted())
        throw Interrupted();
}
} // namespace mapi_cost
