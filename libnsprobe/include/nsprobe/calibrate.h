/* SPDX-License-Identifier: MIT */
/* Calibration: settings of a session -> what its probes cost, on this machine, now. */
#ifndef NSPROBE_CALIBRATE_H
#define NSPROBE_CALIBRATE_H

#include <stdint.h>

#include <nsprobe/file.h>
#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSP_CALIBRATION_MAX_CPUS 8
#define NSP_CALIBRATION_KINDS 4
#define NSP_CALIBRATION_MAX_ENTRIES                                                                \
    (NSP_CALIBRATION_MAX_CPUS * NSP_CALIBRATION_KINDS * (2 + NSLICE_MAX_COUNTERS)) /* ticks in two contexts, counters */
#define NSP_CALIBRATION_HALVES 2
#define NSP_CALIBRATION_MAX_HALVES                                                                 \
    (NSP_CALIBRATION_MAX_CPUS * NSP_CALIBRATION_HALVES * (2 + NSLICE_MAX_COUNTERS))

struct nsp_calibration_request {
    enum nsp_clock_mode clock;
    enum nslice_ring_kind ring_kind; /* 0: what this process can use */
    const char *counters;            /* comma-separated; NULL or "": clock only */
    enum nsp_counter_source source;
    uint32_t batches;                /* per constant; 0: what a session start can afford */
    uint32_t halves;                 /* nonzero: START and STOP each by itself, too */
};

struct nsp_calibration {
    double clock_step_ticks; /* granularity of the clock */
    double clock_read_ticks; /* mean cost of the bare clock read of the mode */
    double clock_read_ci95;
    uint32_t count;
    struct nslice_calibration_entry entries[NSP_CALIBRATION_MAX_ENTRIES];
    /*
     * Kind START or STOP: what that one of the two adds to what is around it.  For
     * people: the correction takes out pairs, so traces do not carry these.
     */
    uint32_t half_count;
    struct nslice_calibration_entry halves[NSP_CALIBRATION_MAX_HALVES];
};

/*
 * Measures with the very instructions of the probes, on rings of its own, so it
 * may run while a session does.  Binds the calling thread to each of up to
 * eight of its CPUs in turn and restores its affinity.  Method: means over
 * batches of n and 2n probes, difference taken, a fifth of the batches trimmed
 * at either end; never the minimum or median of single pairs, which a clock that moves in steps falsifies.
 * Ticks come twice, also those of halves: between work, and with NSLICE_ENTRY_ALONE in the kind one right behind the other.
 *
 * 0 or -errno, words in nsp_last_error().  Not while another thread calibrates: -EBUSY.
 */
int nsp_calibrate(const struct nsp_calibration_request *request, struct nsp_calibration *out);

/* Granularity of the clock in ticks: the size of its steps where it moves in steps, else the common divisor of its differences. */
double nsp_clock_step_ticks(void);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_CALIBRATE_H */
