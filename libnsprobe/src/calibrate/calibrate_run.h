/* SPDX-License-Identifier: MIT */
/* A calibration under way: what was asked for, the values of each CPU's batches so far, the entries made of them. */
#ifndef NSP_CALIBRATE_RUN_H
#define NSP_CALIBRATE_RUN_H

#include <stdint.h>

#include <nsprobe/calibrate.h>

#include "calibrate_batch.h"
#include "sample_turns.h"
#include "session/shm.h"

/*
 * n; the other half of a batch has 2n.  Long batches on a busy core each hold some
 * disturbance that the trim of the slices leaves out, and the constants come out
 * too large; short ones, too small.  Fitted with tests/bench/time_bench, not derived.
 */
#define NSP_ROUNDS 64
#define NSP_LEAST_BATCHES 5
#define NSP_MAX_BATCHES 1000
#define NSP_TURNS 5 /* CPUs and kinds take turns: what a probe costs wanders with the core's neighbours, over tens of milliseconds */
#define NSP_ALL_KINDS (NSP_CALIBRATION_KINDS + NSP_CALIBRATION_HALVES) /* the pair and the other probes, then the pair's halves */

/* One value of each batch. */
struct nsp_batch_values {
    double outer[NSP_MAX_BATCHES];
    double inner[NSP_MAX_BATCHES];
};

struct nsp_cpu_run {
    uint32_t cpu;
    int is_out;       /* it could not be had all the time: it gets no constants of its own */
    uint32_t batches; /* of time, of each kind */
    struct nsp_batch_ring ring;
    struct nsp_batch_values after_work[NSP_ALL_KINDS];
    struct nsp_batch_values alone[NSP_ALL_KINDS];
};

struct nsp_calibration_run {
    struct nsp_shm_map scratch;
    struct nsp_calibration *out;
    uint32_t batches;
    int has_limit; /* a session's start waits for it */
    uint64_t entry_ns; /* for all batches of one entry; 0: as long as it takes */
    int kinds; /* NSP_ALL_KINDS where the halves of the pair are asked for */
    double sorted[NSP_MAX_BATCHES];
    uint32_t cpus;
    struct nsp_cpu_run cpu[NSP_CALIBRATION_MAX_CPUS];
};

/* enum nslice_kind of the record that stands for a kind: the pair's is its START. */
extern const uint8_t nsp_record_kinds[NSP_ALL_KINDS];

static inline int nsp_is_half(int kind)
{
    return kind >= NSP_CALIBRATION_KINDS;
}

/* Appends what the values say; `flags`: of the entry's kind.  NULL when there are as many entries as a calibration holds. */
struct nslice_calibration_entry *nsp_add_entry(struct nsp_calibration_run *run, const struct nsp_cpu_run *cpu, int kind, uint8_t flags,
                                               uint32_t field, const struct nsp_batch_values *values, uint32_t batches);

/* Turn `turn` of the CPU that the thread is bound to; the first one finds out how many batches the time allows. */
void nsp_time_turn(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu, uint32_t turn);

/* The entries of all its turns. */
void nsp_time_entries(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu);

/* Entries of all counters on the CPU that the thread is bound to. */
void nsp_calibrate_counters(struct nsp_calibration_run *run, struct nsp_cpu_run *cpu);

#endif /* NSP_CALIBRATE_RUN_H */
