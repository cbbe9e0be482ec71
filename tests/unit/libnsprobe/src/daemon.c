/* SPDX-License-Identifier: MIT */
/* Helper program: a daemon. $1 is the file for its process id; the other arguments are words:
   conf=TEXT sets options from code; once: one fork() instead of two; close: closes what it did not
   open; reuse: also opens its own files under these descriptor numbers; units=N: ends by itself
   after N units, at least 2; pause=MS: the first process stays that long; end=WAY: how the daemon
   ends (exit; kill: by SIGKILL; heir: it leaves a child that continues). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static volatile sig_atomic_t stop;

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

static const char *option(char **words, const char *name)
{
    const size_t length = strlen(name);

    for (; *words; ++words)
        if (strncmp(*words, name, length) == 0)
            return *words + length;
    return NULL;
}

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static void work(long units)
{
    for (long i = 0; !stop && (units == 0 || i < units); ++i) {
        NET_SLICE_INIT(unit, i, 1, 64);
        NET_SLICE_START(work);
        NET_SLICE_STOP(work);
        NET_SLICE_EXIT(unit);
        sleep_ms(1);
    }
}

/* As programs do that want to inherit no descriptors. */
static void close_all(int reuse)
{
    close_range(3, ~0u, 0);
    for (int i = 0; reuse && i < 64; ++i)
        if (open("/dev/null", O_RDWR) < 0)
            exit(4);
}

/* Returns in the daemon. */
static void detach(char **words)
{
    const char *pause = option(words, "pause=");
    int null;

    if (fork() > 0) {
        sleep_ms(pause ? atol(pause) : 0);
        exit(0);
    }
    setsid();
    if (!option(words, "once") && fork() > 0)
        _exit(0);
    null = open("/dev/null", O_RDWR);
    for (int place = 0; place <= 2; ++place)
        dup2(null, place);
    if (option(words, "close") || option(words, "reuse"))
        close_all(option(words, "reuse") != NULL);
}

static int write_pid(const char *path)
{
    char name[4096];
    FILE *file;

    snprintf(name, sizeof(name), "%s.new", path);
    file = fopen(name, "w");
    if (!file)
        return -1;
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    return rename(name, path);
}

int main(int argc, char **argv)
{
    const char *conf = argc > 1 ? option(argv + 2, "conf=") : NULL,
               *units = argc > 1 ? option(argv + 2, "units=") : NULL;

    if (argc < 2)
        return 2;
    signal(SIGTERM, on_term);
    if (conf && NET_SLICE_CONF(conf))
        return 3;
    work(10); /* before it goes into the background */
    detach(argv + 2);
    work(1); /* a reader of the number may end it at once */
    if (write_pid(argv[1]))
        return 4;
    work(units ? atol(units) - 1 : 0);
    stop = 0; /* not in the heir, which may have been asked to end before that */
    if (option(argv + 2, "end=heir") && fork() == 0) {
        if (write_pid(argv[1]))
            return 4;
        work(0);
    }
    if (option(argv + 2, "end=kill"))
        raise(SIGKILL);
    return 0;
}
