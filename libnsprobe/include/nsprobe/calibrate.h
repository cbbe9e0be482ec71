/* SPDX-License-Identifier: MIT */
/* Calibration: settings of a session -> the cost of its probes on this machine, measured now. */
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
#define NSP_CALIBRATION_MAX_ENTRIES                                                  \
    (NSP_CALIBRATION_MAX_CPUS * (NSP_CALIBRATION_KINDS * (2 + NSLICE_MAX_COUNTERS) + \
                                 1)) /* ticks in two contexts, counters; overtaking */
#define NSP_CALIBRATION_HALVES 2
#define NSP_CALIBRATION_MAX_HALVES \
    (NSP_CALIBRATION_MAX_CPUS * NSP_CALIBRATION_HALVES * (2 + NSLICE_MAX_COUNTERS))

struct nsp_calibration_request {
    enum nsp_clock_mode clock;
    enum nslice_ring_kind ring_kind; /* 0: whichever this process can use */
    const char *counters;            /* comma-separated; NULL or "": clock only */
    enum nsp_counter_source source;
    uint32_t batches; /* per constant; 0: as many as a session start can afford */
    uint32_t halves;  /* nonzero: also START and STOP separately */
};

struct nsp_calibration {
    double clock_step_ticks; /* granularity of the clock */
    double clock_read_ticks; /* mean cost of the bare clock read of the mode */
    double clock_read_ci95;
    uint32_t count;
    struct nslice_calibration_entry entries[NSP_CALIBRATION_MAX_ENTRIES];
    /*
     * Kind START or STOP: the cost that this one probe adds to the code around it.
     * For display only: the correction subtracts pairs, so traces do not carry these.
     */
    uint32_t half_count;
    struct nslice_calibration_entry halves[NSP_CALIBRATION_MAX_HALVES];
};

/*
 * Measures with exactly the probes' instructions, on rings of its own.  Binds the
 * calling thread to each of up to eight of its CPUs in turn and restores its affinity.
 * Method: difference between means over batches of n and 2n probes, with a fifth of
 * the batches trimmed at either end; never the minimum or median of single pairs,
 * which a clock that moves in steps falsifies.  Ticks, including those of halves, are
 * measured twice: between work and, with NSLICE_ENTRY_ALONE in the kind, one probe
 * immediately after another.  The pair has a third entry of ticks, with
 * NSLICE_ENTRY_OVERTAKING: right behind another probe and around long work.
 *
 * Returns 0 or -errno with the reason in nsp_last_error().  -EBUSY: another thread is
 * calibrating, or a session is open.
 */
int nsp_calibrate(const struct nsp_calibration_request *request, struct nsp_calibration *out);

/*
 * Granularity of the clock in ticks: its step if it moves in steps, else the common divisor of its
 * differences.
 */
double nsp_clock_step_ticks(void);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_CALIBRATE_H */
