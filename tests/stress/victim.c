/* SPDX-License-Identifier: MIT */
/* A program to be recorded and killed: $1 is what to do (run, fork, exec), $2 the file with struct
   victim_counts, $3 how often. */
#define _GNU_SOURCE
#include "victim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nsprobe/probe.h>

static struct victim_counts *counts;

static void write_units(unsigned long units)
{
    uint64_t slot = __atomic_fetch_add(&counts->writers, 1, __ATOMIC_RELAXED);
    volatile uint64_t *issued = &counts->writer[slot % VICTIM_MAX_WRITERS].issued;

    for (uint64_t n = 0; n < units; ++n) {
        NET_SLICE_INIT(unit, n, ~n, n * 3);
        ++*issued;
        NET_SLICE_START(work);
        ++*issued;
        NET_SLICE_MARK(value, n);
        ++*issued;
        NET_SLICE_STOP(work);
        ++*issued;
        NET_SLICE_EXIT(unit);
        ++*issued;
    }
}

static void *run(void *unused)
{
    (void)unused;
    write_units(~0ul);
    return NULL;
}

int main(int argc, char **argv)
{
    const unsigned long times = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    int fd = argc > 2 ? open(argv[2], O_RDWR | O_CLOEXEC) : -1;
    pthread_t threads[2];

    counts = fd < 0 ? MAP_FAILED
                    : mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        return 2;
    if (strcmp(argv[1], "run") == 0) {
        for (int i = 0; i < 2; ++i)
            pthread_create(&threads[i], NULL, run, NULL);
        run(NULL);
    } else if (strcmp(argv[1], "fork") == 0) {
        for (unsigned long i = 0; i < times; ++i) {
            if (fork() == 0) {
                write_units(300);
                exit(0);
            }
            write_units(10);
            if (i % 4 == 3)
                while (wait(NULL) > 0)
                    ;
        }
        while (wait(NULL) > 0)
            ;
    } else if (strcmp(argv[1], "exec") == 0) {
        char left[24];

        write_units(200);
        snprintf(left, sizeof(left), "%lu", times - 1);
        if (times > 0)
            execl("/proc/self/exe", argv[0], argv[1], argv[2], left, (char *)NULL);
    }
    return 0;
}
