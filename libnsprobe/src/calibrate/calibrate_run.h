/* SPDX-License-Identifier: MIT */
/* A calibration in progress: request, values of the batches so far, resulting entries. */
#ifndef NSP_CALIBRATE_RUN_H
#define NSP_CALIBRATE_RUN_H

#include <stdint.h>

#include <nsprobe/calibrate.h>

#include "calibrate_batch.h"
#include "calibrate_setup.h"
#include "session/shm.h"
#include "surroundings.h"

/*
 * n; the other half of a batch has 2n.  On a busy core, each long batch contains some
 * disturbance that trimming removes from the slices, and the constants become too
 * large; with short batches, too small.  Fitted with tests/bench/time_bench, not derived.
 */
#define NSP_ROUNDS 64
#define NSP_LEAST_BATCHES 5
#define NSP_MAX_BATCHES 1000
/* CPUs and kinds take turns: a probe's cost drifts with the core's neighbours over tens of ms. */
#define NSP_TURNS 5
/* The pair and the other probes, then the pair's halves, then functions by way. */
#define NSP_MACRO_KINDS (NSP_CALIBRATION_KINDS + NSP_CALIBRATION_HALVES)
#define NSP_ALL_KINDS (NSP_MACRO_KINDS + NSP_WAYS)

/* One value of each batch. */
struct nsp_batch_values {
    double outer[NSP_MAX_BATCHES];
    double inner[NSP_MAX_BATCHES];
};

struct nsp_cpu_run {
    uint32_t cpu;
    int is_out;       /* it was unavailable for a while: it gets no constants of its own */
    uint32_t batches; /* of time, per kind */
    struct nsp_batch_ring ring;
    struct nsp_batch_values after_work[NSP_ALL_KINDS];
    struct nsp_batch_values alone[NSP_ALL_KINDS];
    struct nsp_batch_values overtaking; /* of the pair */
};

struct nsp_calibration_run {
    struct nsp_shm_map scratch;
    struct nsp_calibration *out;
    struct nsp_surroundings *surroundings;
    uint32_t batches;
    int has_limit;     /* a session's start waits for it */
    uint64_t entry_ns; /* limit for all batches of one entry; 0: none */
    int has_halves;
    struct nsp_way_entries *ways; /* NULL: not measured */
    int kinds;                    /* number that nsp_next_kind() goes through */
    double sorted[NSP_MAX_BATCHES];
    uint32_t cpus;
    struct nsp_cpu_run cpu[NSP_CALIBRATION_MAX_CPUS];
};

/* enum nslice_kind of the record that represents a kind: for the pair, START. */
extern const uint8_t nsp_record_kinds[NSP_ALL_KINDS];

static inline int nsp_is_half(int kind)
{
    return kind >= NSP_CALIBRATION_KINDS && kind < NSP_MACRO_KINDS;
}

static inline int nsp_is_way(int kind)
{
    return kind >= NSP_MACRO_KINDS;
}

/* The kind to measure after this one; NSP_ALL_KINDS: none. */
static inline int nsp_next_kind(const struct nsp_calibration_run *run, int kind)
{
    ++kind;
    if (nsp_is_half(kind) && !run->has_halves)
        kind = NSP_MACRO_KINDS;
    return nsp_is_way(kind) && !run->ways ? NSP_ALL_KINDS : kind;
}

/*
 * Appends an entry for the values; `flags`: for the entry's kind.  NULL: the calibration has no
 * room for more entries.
 */
struct nslice_calibration_entry *nsp_add_entry(struct nsp_calibration_run *run,
                                               const struct nsp_cpu_run *cpu, int kind,
                                               uint8_t flags, uint32_t field,
                                               const struct nsp_batch_values *values,
                                               uint32_t batches);

/*
 * Reuses the first CPU's counts for another CPU: stepped counts are exact, and measuring again
 * would take tens of milliseconds.
 */
void nsp_copy_counter_entries(struct nsp_calibration_run *run, uint32_t from_cpu, uint32_t to_cpu);

#endif /* NSP_CALIBRATE_RUN_H */
