/* SPDX-License-Identifier: MIT */
/* The victim's counts, in shared memory so that they survive kill -9. */
#ifndef STRESS_VICTIM_H
#define STRESS_VICTIM_H

#include <stdint.h>

#define VICTIM_MAX_WRITERS 4096

struct victim_counts {
    uint64_t writers; /* slots in use */
    struct {
        uint64_t issued; /* incremented after each probe: the ring may be one ahead */
        uint64_t pad[7];
    } writer[VICTIM_MAX_WRITERS];
};

#endif /* STRESS_VICTIM_H */
