/* SPDX-License-Identifier: MIT */
/* long_slices COUNT MILLISECONDS: COUNT slices of this length by the monotonic clock, without
 * system calls in them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nsprobe/probe.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: long_slices COUNT MILLISECONDS\n");
        return 2;
    }
    for (uint64_t count = strtoull(argv[1], NULL, 10); count > 0; --count) {
        const uint64_t end_ns = now_ns() + strtoull(argv[2], NULL, 10) * 1000000;

        NET_SLICE_START(long);
        while (now_ns() < end_ns)
            ;
        NET_SLICE_STOP(long);
    }
    return 0;
}
