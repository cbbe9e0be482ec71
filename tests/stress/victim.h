/* SPDX-License-Identifier: MIT */
/* What the victim tells the test through shared memory, so that it survives kill -9. */
#ifndef STRESS_VICTIM_H
#define STRESS_VICTIM_H

#include <stdint.h>

#define VICTIM_MAX_WRITERS 4096

struct victim_counts {
    uint64_t writers; /* slots taken */
    struct {
        uint64_t issued; /* raised after each probe: the ring may be one ahead */
        uint64_t pad[7];
    } writer[VICTIM_MAX_WRITERS];
};

#endif /* STRESS_VICTIM_H */
