/* SPDX-License-Identifier: MIT */
/* Pauses of a recording -> rings that leave records out, and what the trace says of it. */
#ifndef NSP_PAUSE_H
#define NSP_PAUSE_H

#include <stdint.h>

struct nsp_drain;

struct nsp_pauses {
    uint64_t opened_ns;
    uint64_t since_ns; /* 0: not paused */
    uint64_t past_ns;  /* length of the pauses that are over */
    uint64_t left_out; /* as last summed */
    int is_over;       /* the recorder has stopped: the sum stays */
    uint32_t switches;
};

/* Policy discard only.  No effect if the rings are paused already. */
void nsp_drain_pause(struct nsp_drain *drain);

/*
 * The rings go on; what all of them left out lies before the next record of each: a thread may have
 * been on any CPU meanwhile.  No effect if they are not paused.
 */
void nsp_drain_resume(struct nsp_drain *drain);

/* Updates pauses.left_out: writers that were preempted may count a record after a pause. */
void nsp_drain_sum_left_out(struct nsp_drain *drain);

/* At the end, after the last record: the totals that the footer has no place for. */
void nsp_drain_write_pauses(struct nsp_drain *drain);

uint64_t nsp_drain_left_out(const struct nsp_drain *drain);

#endif /* NSP_PAUSE_H */
