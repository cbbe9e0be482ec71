/* SPDX-License-Identifier: MIT */
/* Meter: the cost of pieces of code, summed as they run, without a session and without records. */
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
 * For programs that need their own cost while they run.  Use probes for everything else: they cost
 * less, nest, detect interrupts and leave a trace.  A meter belongs to the thread that opens it:
 * only that thread may call begin and end, and begin/end pairs do not nest.
 */
struct nsp_meter;

/* Raw sums, including the meter's own cost.  Sums may be added and subtracted member by member. */
struct nsp_meter_sum {
    uint64_t calls;         /* of nsp_meter_end() */
    uint64_t ticks;         /* of the probes' clock, fenced on both sides */
    uint64_t counted_calls; /* calls whose counters could be read */
    uint64_t instructions;  /* of user space, in counted calls */
    uint64_t cycles;        /* of the core, in user space, in counted calls */
};

/*
 * Without the meter's own cost.  Ticks include the kernel's work in between; instructions and
 * cycles do not.
 */
struct nsp_meter_net {
    double ticks;
    double ticks_ci95; /* half width: possible error of the meter's own part */
    double instructions;
    double cycles;
    double cycles_ci95;
    double ticks_per_second; /* 0 for a meter's first 0.1 ms */
};

/*
 * Starts counting for the calling thread and measures the meter's own cost, which takes some
 * milliseconds.  Without a PMU, or if the kernel does not allow counters, only ticks are
 * measured.  Returns 0 or -errno.
 */
int nsp_meter_open(struct nsp_meter **out);

/* Source of the counters: "rdpmc", "perf-read" or "none". */
const char *nsp_meter_source(const struct nsp_meter *meter);

void nsp_meter_begin(struct nsp_meter *meter);
void nsp_meter_end(struct nsp_meter *meter, struct nsp_meter_sum *sum);

/* Any thread. */
void nsp_meter_read(const struct nsp_meter *meter, const struct nsp_meter_sum *sum,
                    struct nsp_meter_net *net);

/* Any thread, once the meter's thread no longer uses it.  NULL is allowed. */
void nsp_meter_close(struct nsp_meter *meter);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_METER_H */
