/* SPDX-License-Identifier: MIT */
/* Meter: what pieces of code take, summed as they run, without a session and without records. */
#ifndef NSPROBE_METER_H
#define NSPROBE_METER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 *	nsp_meter_open(&meter);
 *	nsp_meter_begin(meter);
 *	...
 *	nsp_meter_end(meter, &sum);
 *	nsp_meter_read(meter, &sum, &net);
 *
 * For programs that want to know their own cost while they run.  Probes are for all else: they cost less, nest, tell interrupts
 * apart and leave a trace.  A meter is of the thread that opens it: begin and end are its alone, and no begin comes between a
 * begin and its end.
 */
struct nsp_meter;

/* As measured; what the meter itself takes is still in it.  Sums may be added up and subtracted member by member. */
struct nsp_meter_sum {
    uint64_t calls;         /* of nsp_meter_end() */
    uint64_t ticks;         /* of the probes' clock, fenced on both sides */
    uint64_t counted_calls; /* of calls: those whose counters could be read */
    uint64_t instructions;  /* of user space, in counted calls */
    uint64_t cycles;        /* of the core, in user space, in counted calls */
};

/* Without the meter's own.  Ticks have in them what the kernel did in between; instructions and cycles have not. */
struct nsp_meter_net {
    double ticks;
    double ticks_ci95; /* half width: what the meter's part may be off by */
    double instructions;
    double cycles;
    double cycles_ci95;
    double ticks_per_second; /* 0 for a meter's first 0.1 ms */
};

/*
 * Counts for the calling thread from now on, and measures what the meter itself takes: some milliseconds.  Without a PMU, or where
 * the kernel allows no counters, there are ticks alone.  0 or -errno.
 */
int nsp_meter_open(struct nsp_meter **meter);

/* "rdpmc", "perf-read", or "none": where the counters come from. */
const char *nsp_meter_source(const struct nsp_meter *meter);

void nsp_meter_begin(struct nsp_meter *meter);
void nsp_meter_end(struct nsp_meter *meter, struct nsp_meter_sum *sum);

/* Any thread. */
void nsp_meter_read(const struct nsp_meter *meter, const struct nsp_meter_sum *sum, struct nsp_meter_net *net);

/* Any thread, once the meter's own is done with it.  NULL is allowed. */
void nsp_meter_close(struct nsp_meter *meter);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_METER_H */
