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
#include "pause.h"
#include "session/shm.h"

struct nsp_drain_cpu {
    uint64_t tail; /* position up to which records are drained */
    uint64_t chunks;
    uint64_t drained; /* records in chunks */
    uint64_t lost_write;
    uint64_t lost_torn;
    uint64_t lost_overwritten;   /* valid once is_settled */
    uint64_t committed;          /* records ever committed to the ring */
    uint64_t head;               /* as last read */
    struct nslice_gaps gaps;     /* where records were refused */
    struct nslice_gaps left_out; /* where the session left some out */
};

struct nsp_drain {
    const struct nsp_shm_map *map;
    struct nsp_file file;
    struct nsp_drain_cpu *cpus;
    char *copy; /* one chunk, for records that may be overwritten while read */
    uint64_t announce_cursor;
    uint64_t awaited_cursor, awaited_until_ns; /* the last announcement found incomplete */
    int is_waiting; /* the last pass skipped the rings because of that announcement */
    uint64_t end_calibration_offset;
    struct {
        uint32_t cpu, records;
        uint64_t offset;
    } last; /* the last RECORDS chunk */
    struct nsp_kernel_drain kernel;
    struct nsp_kernel_chunk last_kernel;
    struct nsp_pauses pauses;
    int is_settled; /* the last pass is done */
};

/*
 * Opens the trace file for the session, unchanged; given >= 0: a descriptor of it, and path is its
 * name.  Returns 0 or -errno.
 */
int nsp_drain_open(struct nsp_drain *drain, const struct nsp_shm_map *map, const char *path,
                   int given);

/*
 * Replaces the content of the file once a process participates; before that, there is
 * nothing to write.  Returns 1 if the file has begun; a failure is in drain->file.error.
 */
int nsp_drain_begin(struct nsp_drain *drain);

/*
 * Begins the file and writes what readers require besides records: settings, sites, calibration.
 * Returns 0 or the file's -errno.
 */
int nsp_drain_head(struct nsp_drain *drain);

/*
 * Writes what is committed now: announcements first, so that a site precedes its
 * records.  Returns the bytes taken from the fullest ring in this pass; 0 while an
 * announcement before the records is incomplete, for at most 50 ms (is_waiting).  Never
 * makes a writer wait.  After a write error, all further records are counted as lost.
 */
uint64_t nsp_drain_pass(struct nsp_drain *drain);

/*
 * Updates the recorded positions of the rings.  Positions are unambiguous only within
 * 2^32 words, so rings that are not drained (flight recorder) must be read more often
 * than that.
 */
void nsp_drain_watch(struct nsp_drain *drain);

/* INFO session.KEY=total; for the end, when the footer has no place for it. */
void nsp_drain_write_total(struct nsp_drain *drain, const char *key, uint64_t total);

/*
 * Last pass after the rings were closed: counts torn records, writes the footer, closes the file.
 * counts may be NULL.  Returns 0 or the file's -errno; -ENODATA: no process took part, and the file
 * is unchanged.
 */
int nsp_drain_finish(struct nsp_drain *drain, enum nslice_end end,
                     struct nsp_session_counts *counts);

/* The session could not be opened: closes and removes the file. */
void nsp_drain_abandon(struct nsp_drain *drain);

void nsp_drain_counts(const struct nsp_drain *drain, struct nsp_session_counts *counts);

#endif /* NSP_DRAIN_H */
