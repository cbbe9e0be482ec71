/* SPDX-License-Identifier: MIT */
/* Looks at the core that a thread runs on: is it shared, how fast is it, is it taken away? */
#ifndef NSPROBE_CORE_LOOK_H
#define NSPROBE_CORE_LOOK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_core_look {
    double dependent_ticks; /* of an operation that waits for the one before it: core cycles */
    double
        independent_ticks; /* of one of many that need not wait: depends on who shares the core */
    double longest_gap_ticks; /* between two clock reads in a row */
};

/* Takes about 20 us.  Any thread; not a signal handler. */
void nsp_core_look_read(struct nsp_core_look *look);

/* What several looks at one core have in common. */
struct nsp_core_summary {
    uint32_t looks;
    uint32_t shared;          /* of these, looks at which another thread used the core's units */
    double alone_ratio;       /* of independent_ticks to dependent_ticks, on the core by itself */
    double cycles_per_tick;   /* median; 0: unknown on this architecture */
    double frequency_range;   /* of the middle 80 % of the looks, relative to the median */
    double longest_gap_ticks; /* of all looks */
};

/*
 * A core is shared at a look if independent operations take more than a tenth longer, relative to
 * dependent ones, than at the best tenth of the looks; a changed frequency affects both alike.
 * `alone_ratio`: from earlier looks at the core, or 0.  Sorts the looks.
 */
void nsp_core_summarise(struct nsp_core_look *looks, uint32_t count, double alone_ratio,
                        struct nsp_core_summary *out);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_CORE_LOOK_H */
