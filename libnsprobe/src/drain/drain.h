/* SPDX-License-Identifier: MIT */
/* Drain: rings and announcements of a session -> chunks of a trace file. */
#ifndef NSP_DRAIN_H
#define NSP_DRAIN_H

#include <stdint.h>

#include <nslice/gaps.h>

#include <nsprobe/file.h>
#include <nsprobe/session.h>

#include "file_write.h"
#include "kernel_drain.h"
#include "session/shm.h"

struct nsp_drain_cpu {
    uint64_t tail;     /* position up to which records are drained */
    uint64_t chunks;
    uint64_t drained;  /* records in chunks */
    uint64_t lost_write;
    uint64_t lost_torn;
    uint64_t lost_overwritten; /* once the drain is settled */
    uint64_t committed; /* records the ring ever took */
    uint64_t head;      /* last seen */
    struct nslice_gaps gaps; /* where records were refused */
};

struct nsp_drain {
    const struct nsp_shm_map *map;
    struct nsp_file file;
    struct nsp_drain_cpu *cpus;
    char *copy;             /* one chunk, where a record may be replaced while it is read */
    uint64_t announce_cursor;
    uint64_t awaited_cursor, awaited_until_ns; /* the last announcement that was not whole when it was come to */
    int is_waiting; /* the last pass left the rings as they were, for that announcement */
    uint64_t end_calibration_offset;
    struct {
        uint32_t cpu, records;
        uint64_t offset;
    } last; /* the last RECORDS chunk */
    struct nsp_kernel_drain kernel;
    struct nsp_kernel_chunk last_kernel;
    int is_settled; /* the last pass is over */
};

/* Opens the trace file for the session and leaves it as it is; given >= 0: a descriptor of it, and path is its name.  0 or -errno. */
int nsp_drain_open(struct nsp_drain *drain, const struct nsp_shm_map *map, const char *path, int given);

/*
 * Replaces what stands in the file once a process takes part; before, there is
 * nothing to write.  1 when it has begun; a failure is in drain->file.error.
 */
int nsp_drain_begin(struct nsp_drain *drain);

/* Begins, and writes what reading needs besides records: settings, sites, calibration.  0 or -errno of the file. */
int nsp_drain_head(struct nsp_drain *drain);

/*
 * Writes what is committed now: announcements first, so that a site stands
 * before its records.  Returns the bytes taken out of the fullest ring in this
 * pass; none while an announcement before the records is not whole, 50 ms at
 * the most (is_waiting).  Never makes a writer wait.  A write error turns what
 * follows into counted losses.
 */
uint64_t nsp_drain_pass(struct nsp_drain *drain);

/*
 * Takes note of how far the rings have come.  Positions tell counts apart up
 * to 2^32 units only, so rings that nobody drains (flight recorder) must be
 * looked at more often than that.
 */
void nsp_drain_watch(struct nsp_drain *drain);

/*
 * Last pass after the rings were closed; counts what is torn, writes the footer, closes.  counts may be NULL.
 * 0 or -errno of the file; -ENODATA: nobody took part and the file is as it was.
 */
int nsp_drain_finish(struct nsp_drain *drain, enum nslice_end end, struct nsp_session_counts *counts);

/* The session did not come about: closes and removes the file. */
void nsp_drain_abandon(struct nsp_drain *drain);

void nsp_drain_counts(const struct nsp_drain *drain, struct nsp_session_counts *counts);

#endif /* NSP_DRAIN_H */
