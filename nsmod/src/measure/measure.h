/* SPDX-License-Identifier: GPL-2.0 */
/* Cost of instructions and probes in the kernel, measured on request. */
#ifndef NSMOD_MEASURE_H
#define NSMOD_MEASURE_H

#include <linux/types.h>

#define NSMOD_MEASURE_MIN_BATCHES 10

/*
 * Lines of tab-separated fields, in ticks of the module's clock times 1024:
 * name, mean, half width of its 95 % interval, batches; or name, "unavailable",
 * reason.  batches 0: the default.  ERR_PTR(-ENODEV): the CPU is or went
 * offline.  Free with kvfree().
 */
char *nsmod_measure(u32 cpu, u32 batches, size_t *bytes);

/* One item to measure.  All run on the requested CPU, in process context. */
struct nsmod_measured {
	const char *name;
	void (*run)(u32 times);      /* with interrupts off */
	const char *(*begin)(void);  /* prepares it: NULL, or why it cannot run; optional */
	void (*end)(void);           /* called after a successful begin() */
};

extern const struct nsmod_measured nsmod_measured_instructions[];
extern const u32 nsmod_measured_instructions_count;

/* Probes with a recorder are measured last; the recorder is started before the first of them. */
extern const struct nsmod_measured nsmod_measured_idle_macros[], nsmod_measured_macros[];
extern const u32 nsmod_measured_macros_count; /* of each */

/* begin: NULL, or why probes cannot record.  drain: makes room in the rings between batches. */
const char *nsmod_measure_macros_begin(void);
void nsmod_measure_macros_drain(void);
void nsmod_measure_macros_end(void);

#endif /* NSMOD_MEASURE_H */
