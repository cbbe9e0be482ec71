/* SPDX-License-Identifier: MIT */
/* Clock pair: ticks between two readings of the kernel's clock, the closest of several tries. */
#define _GNU_SOURCE
#include "clock_pair.h"

#include <time.h>

#include "arch.h"

#define TRIES 8 /* only an interrupt every 100 ns would disturb all of them */

uint64_t nsp_monotonic_raw_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct nsp_clock_pair nsp_clock_pair(void)
{
    struct nsp_clock_pair best = {0, 0};
    uint64_t smallest_ns = UINT64_MAX;

    for (int i = 0; i < TRIES; ++i) {
        const uint64_t before_ns = nsp_monotonic_raw_ns(), ticks = nsp_clock_read(1),
                       after_ns = nsp_monotonic_raw_ns();

        if (after_ns - before_ns < smallest_ns) {
            smallest_ns = after_ns - before_ns;
            best = (struct nsp_clock_pair){ticks, before_ns + smallest_ns / 2};
        }
    }
    return best;
}
