/* SPDX-License-Identifier: MIT */
/* signals: handlers that set a flag. */
#define _GNU_SOURCE
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#define SAME_WISH_NS 1000000000ll

static volatile sig_atomic_t interrupted, reload_wanted, show_wanted, hangup_reloads;
static struct timespec first;
static struct sigaction pipe_before, size_limit_before;

/*
 * The first signal requests an orderly end.  One Ctrl-C may arrive twice, from
 * the terminal and from the parent process; a signal that arrives later means
 * that the user does not want to wait.
 */
static void on_signal(int number)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
        return;
    }
    if ((now.tv_sec - first.tv_sec) * 1000000000ll + now.tv_nsec - first.tv_nsec < SAME_WISH_NS)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

void command_catch_interrupts(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART}, hangup;

    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!hangup_reloads && sigaction(SIGHUP, NULL, &hangup) == 0 &&
        hangup.sa_handler != SIG_IGN) /* as set by nohup */
        sigaction(SIGHUP, &action, NULL);
}

int command_was_interrupted(void)
{
    return interrupted != 0;
}

static void on_request(int number)
{
    if (number == SIGHUP)
        reload_wanted = 1;
    else
        show_wanted = 1;
}

void command_catch_requests(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};

    hangup_reloads = 1;
    action.sa_handler = on_request;
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

static int take(volatile sig_atomic_t *request)
{
    if (!*request)
        return 0;
    /* A signal in between asks for nothing that does not begin now. */
    *request = 0;
    return 1;
}

int command_take_reload_request(void)
{
    return take(&reload_wanted);
}

int command_take_show_request(void)
{
    return take(&show_wanted);
}

void command_ignore_write_signals(void)
{
    struct sigaction action = {.sa_flags = 0};

    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &pipe_before);
    sigaction(SIGXFSZ, &action, &size_limit_before);
}

void command_restore_write_signals(void)
{
    sigaction(SIGPIPE, &pipe_before, NULL);
    sigaction(SIGXFSZ, &size_limit_before, NULL);
}

void command_pause(int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};

    nanosleep(&time, NULL);
}
