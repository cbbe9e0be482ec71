/* SPDX-License-Identifier: MIT */
/* What src/writer/counted_*.S needs from C: the state's and the thread's part of a START or STOP.
 */
#ifndef NSP_COUNTED_BLOCK_H
#define NSP_COUNTED_BLOCK_H

#include <linux/perf_event.h>
#include <stdint.h>

#include <nsprobe/detail/state.h>

#include "counted.h"
#include "thread.h"

/* What the assembly finds instead of a counter's page: its first load is not conditional. */
extern const struct perf_event_mmap_page nsp_counted_no_page;

/* A slot with this sum is valid in no session: no key and no lock has all bits set. */
#define NSP_COUNTED_NONE (~0ull)

void nsp_detail_general(void); /* arch_*.S: called by probes */

/* Code of START and STOP, and its struct rseq_cs, in counted_*.S. */
struct nsp_counted_code {
    void (*code)(void);
    const void *sequence;
};

/* By is_ordered and number of counters - 1. */
extern const struct nsp_counted_code nsp_detail_counted_codes[2][NSLICE_MAX_COUNTERS];

/* Sets what the assembly calls and reads, by the state's other values; a new key. */
void nsp_counted_bind(struct nsp_detail_state *state);

/* The calling thread's next START or STOP reads the pages; it must not access older ones. */
void nsp_counted_forget(void);

/* Copies the thread's pages and its CPU's ring into its block.  As many instructions each time. */
void nsp_counted_refresh(struct nsp_detail_state *state);

/*
 * Fills entry and exit of the calling thread's counters, which it has just opened, by trying each
 * way.  Without memory they are 0: a record after a switch of threads then adds some instructions
 * to the slices around it.
 */
void nsp_counted_measure_costs(const struct nsp_detail_state *state);

/* Mode of a site while its session has this mode: only START and STOP carry counters. */
static inline uint32_t nsp_counted_mode(uint32_t mode, uint32_t kind)
{
    return mode == NSP_DETAIL_MODE_COUNTED && kind > NSP_LAST_COUNTED_KIND ? NSP_DETAIL_MODE_GENERAL
                                                                           : mode;
}

#endif /* NSP_COUNTED_BLOCK_H */
