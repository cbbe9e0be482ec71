/* SPDX-License-Identifier: MIT */
/* Per-thread state of the library, accessible from signal handlers and without a call. */
#ifndef NSP_THREAD_H
#define NSP_THREAD_H

#include <stdint.h>

#include <nslice/record.h>

/*
 * At a fixed offset from the thread pointer: the dynamic models call
 * __tls_get_addr(), which may allocate.  Required on the definition as well, which
 * determines the model in its own file.
 */
#define NSP_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/* Kernel thread id, 0 until the thread's first probe; read by the probe itself. */
extern NSP_THREAD_LOCAL uint32_t nsp_detail_thread_id;

struct nsp_thread_counter {
    const void *page; /* struct perf_event_mmap_page of a counter that src/counted_*.S may read */
    uint64_t spare_bits; /* 64 - width of its register */
    uint64_t detour;     /* total cost of aborted record attempts and torn readings */
};

/* Slices nested deeper end with the next STOP of any name. */
#define NSP_STEP_NAMES 64

struct nsp_thread {
    uint32_t serial;       /* records written or lost; shows that a handler intervened */
    uint32_t registers_of; /* session generation whose counters the assembly may read; 0: none */
    struct nsp_thread_counter counter[NSLICE_MAX_COUNTERS];
    uint64_t stepped;      /* instructions counted by the step source */
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
