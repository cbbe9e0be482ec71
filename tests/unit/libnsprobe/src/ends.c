/* SPDX-License-Identifier: MIT */
/* Helper program: does $2 units of work, sleeps for $3 milliseconds ("-": waits until its input
   ends), then ends as $1 says: exit, _exit, quick_exit, abort, segv, kill, exec, chroot,
   pthread_exit (with a thread that continues for a while, and writes to standard output). */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static void *work_later(void *unused)
{
    const struct timespec pause = {0, 200000000};

    (void)unused;
    nanosleep(&pause, NULL);
    NET_SLICE_START(later);
    NET_SLICE_STOP(later);
    printf("still running\n");
    return NULL;
}

static void end_as(const char *way)
{
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(way, "pthread_exit") == 0) {
        pthread_t other;

        pthread_create(&other, NULL, work_later, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(way, "chroot") == 0)
        exit(chroot("/proc") || chdir("/"));
    exit(strcmp(way, "exit") != 0);
}

static void wait_for_input_to_end(void)
{
    char byte;

    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    const long units = argc > 3 ? strtol(argv[2], NULL, 10) : 0,
               pause_ms = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    const struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};

    if (argc != 4)
        return 2;
    for (long i = 0; i < units; ++i) {
        NET_SLICE_START(work);
        NET_SLICE_STOP(work);
    }
    if (strcmp(argv[3], "-") == 0)
        wait_for_input_to_end();
    else
        nanosleep(&pause, NULL);
    end_as(argv[1]);
}
