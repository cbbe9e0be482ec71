/* SPDX-License-Identifier: MIT */
/* Per-thread state of the library, accessible from signal handlers and without a call. */
#ifndef NSP_THREAD_H
#define NSP_THREAD_H

#include <stdint.h>

#include <nslice/record.h>

#include <nsprobe/detail/state.h>

#include "counted.h"

/*
 * At a fixed offset from the thread pointer: the dynamic models call
 * __tls_get_addr(), which may allocate.  Required on the definition as well, which
 * determines the model in its own file.
 */
#define NSP_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/* Kernel thread id, 0 until the thread's first probe; read by the probe itself. */
extern NSP_THREAD_LOCAL uint32_t nsp_detail_thread_id;

struct nsp_thread_counter {
    const void *page; /* struct perf_event_mmap_page of a counter that counted_*.S may read */
    uint64_t detour;  /* total cost of aborted record attempts and torn readings */
    /* what a record costs more than in the assembly's straight path: see counted_costs.c */
    uint64_t entry[NSP_ATTEMPTS]; /* up to its reading, by the way into C */
    uint64_t exit;                /* and after it */
};

/*
 * All that the assembly reads of a thread's counters, filled by counted_block.c.  A slot is for
 * sessions with as many counters; it is valid in at most one session.
 */
struct nsp_counted {
    struct {
        uint64_t sum; /* lock of the first counter's page, and the state's key << 32 */
        const void *page;
    } slot[NSLICE_MAX_COUNTERS];
    uint64_t reader[NSLICE_MAX_COUNTERS]; /* arm64: address of the code that reads the register;
                                             x86-64: number of the register */
    uint64_t offset[NSLICE_MAX_COUNTERS]; /* of the page, minus the detour */
    uint64_t value[NSLICE_MAX_COUNTERS];  /* of the assembly's last reading */
    const void *page[NSLICE_MAX_COUNTERS];
    uint32_t lock[NSLICE_MAX_COUNTERS];
    uint32_t spare_bits[NSLICE_MAX_COUNTERS]; /* 64 - width of the register */
    void *head;                               /* of the ring of the thread's CPU */
    uint64_t thread_and_count;                /* second word of a record without its site's bits */
    uint64_t step;                            /* of the ring's head */
    uint64_t has_written; /* NSP_WRITTEN after a record; shows that a handler intervened */
    struct nsp_detail_state *state;
};

/* Slices nested deeper end with the next STOP of any name. */
#define NSP_STEP_NAMES 64

struct nsp_thread {
    struct nsp_counted counted;
    struct nsp_thread_counter counter[NSLICE_MAX_COUNTERS];
    struct nsp_detail_state *state; /* of the probe that starts the counters */
    uint32_t registers_of;  /* session generation whose counters the assembly may read; 0: none */
    uint32_t is_refreshing; /* 1: in nsp_counted_refresh() */
    uint32_t was_refreshed_inside; /* 1: also by a handler meanwhile */
    uint64_t stepped;              /* instructions counted by the step source */
    uint64_t last_address; /* of the last trap, to count a repeated string instruction once */
    uint32_t step_depth;   /* slices open while stepping */
    uint32_t units_seen;   /* EXITs, to choose every n-th unit */
    uint32_t step_skip;    /* nonzero: this unit is not counted */
    uint32_t generation;   /* session the thread's counters belong to */
    void *counters;        /* of the source; NULL until started */
    uint32_t counters_failed;
    void (*release)(void); /* of the source whose counters the thread holds; NULL: none */
    uint16_t step_names[NSP_STEP_NAMES]; /* name hashes of open stepped slices, outermost first */
};

extern NSP_THREAD_LOCAL struct nsp_thread nsp_thread;

#endif /* NSP_THREAD_H */
