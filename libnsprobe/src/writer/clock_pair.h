/* SPDX-License-Identifier: MIT */
/* Clock pair: the probes' clock and CLOCK_MONOTONIC_RAW at one instant. */
#ifndef NSP_CLOCK_PAIR_H
#define NSP_CLOCK_PAIR_H

#include <stdint.h>

struct nsp_clock_pair {
    uint64_t ticks;
    uint64_t mono_ns; /* CLOCK_MONOTONIC_RAW */
};

/* Read so close together that preemption in between has no effect. */
struct nsp_clock_pair nsp_clock_pair(void);

uint64_t nsp_monotonic_raw_ns(void);

#endif /* NSP_CLOCK_PAIR_H */
