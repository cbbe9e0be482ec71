/* SPDX-License-Identifier: MIT */
/* The state that every record reads: where and how to write.  Not API. */
#ifndef NSPROBE_DETAIL_STATE_H
#define NSPROBE_DETAIL_STATE_H

/*
 * Values of nsp_site.mode and nsp_detail_state.mode, also known to the assembly.  On arm64, the
 * probe calls the function at this offset in the state in the last two modes; bit 2 distinguishes
 * them from ORDERED.
 */
#define NSP_DETAIL_MODE_OFF 0     /* no session, or not this site */
#define NSP_DETAIL_MODE_INLINE 1  /* rseq ring, clock only: no call */
#define NSP_DETAIL_MODE_STEP 3    /* as GENERAL, with the trap flag off inside the probe; x86-64 */
#define NSP_DETAIL_MODE_ORDERED 4 /* as INLINE, between fences */
#define NSP_DETAIL_MODE_GENERAL NSP_DETAIL_STATE_GENERAL /* counters, or a ring without rseq: C */
#define NSP_DETAIL_MODE_COUNTED NSP_DETAIL_STATE_COUNTED /* START, STOP: src/writer/counted_*.S */

/* Byte offsets for the assembly; checked in src/session/process.c and src/writer/thread_begin.c. */
#define NSP_DETAIL_SITE_HEAD_BITS 20
#define NSP_DETAIL_SITE_MODE 24
#define NSP_DETAIL_STATE_MODE 0
#define NSP_DETAIL_STATE_ORDERED 4
#define NSP_DETAIL_STATE_STRIDE 8
#define NSP_DETAIL_STATE_RINGS 16
#define NSP_DETAIL_STATE_RSEQ 24
#define NSP_DETAIL_STATE_CPUS 32
#define NSP_DETAIL_STATE_COUNTERS 36
#define NSP_DETAIL_STATE_GENERAL 64
#define NSP_DETAIL_STATE_COUNTED 72
#define NSP_DETAIL_STATE_SEQUENCE 80
#define NSP_DETAIL_STATE_COUNTED_RSEQ 88
#define NSP_DETAIL_STATE_THREAD 96
#define NSP_DETAIL_STATE_KEY 104
#define NSP_DETAIL_RING_HEAD 64
#define NSP_DETAIL_RING_LIMIT 72
#define NSP_DETAIL_RING_MASK 76
#define NSP_DETAIL_RING_DATA 4096

#ifndef __ASSEMBLER__

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_detail_state {
    uint32_t mode;         /* NSP_DETAIL_MODE_*: that of the sites that are on */
    uint32_t ordered;      /* nonzero: fences at both ends of each probe */
    uint64_t stride_bytes; /* from one CPU's ring to the next */
    char *rings;           /* meta page of CPU 0 */
    int64_t rseq_offset;   /* from the thread pointer to struct rseq */
    uint32_t cpus;         /* number of rings; larger CPU numbers take the cold path */
    uint32_t counters;     /* words in a START or STOP record */
    uint32_t ring_kind;    /* enum nslice_ring_kind */

    /* out of line; a cache line of its own, so that clock-only records read one line */
    void (*general)(void) __attribute__((aligned(64))); /* not called by these types: assembly */
    void (*counted)(void);
    const void *counted_sequence; /* struct rseq_cs of counted */
    int64_t
        counted_rseq_offset; /* as rseq_offset; adjacent to the next, so that one load has both */
    int64_t thread_offset;   /* from the thread pointer to struct nsp_counted */
    uint32_t key;            /* names these values: no other state has it; 0: they change */
} __attribute__((aligned(64)));

/* The session of this process.  Calibration runs the same instructions on another instance. */
extern struct nsp_detail_state nsp_detail_state;

#ifdef __cplusplus
}
#endif

#endif /* __ASSEMBLER__ */
#endif /* NSPROBE_DETAIL_STATE_H */
