/* SPDX-License-Identifier: GPL-2.0 */
/* What instructions and probes cost in the kernel, measured on request. */
#ifndef NSMOD_MEASURE_H
#define NSMOD_MEASURE_H

#include <linux/types.h>

#define NSMOD_MEASURE_MIN_BATCHES 10

/*
 * Lines of tab-parted fields, in ticks of the module's clock times 1024: name, mean, half width of its 95 % interval,
 * batches; or name, "unavailable", reason.  batches 0: a usual number.  ERR_PTR(-ENODEV): the CPU is off, or went off; free with kvfree().
 */
char *nsmod_measure(u32 cpu, u32 batches, size_t *bytes);

/* One thing to measure.  All run on the CPU asked for, in a process. */
struct nsmod_measured {
	const char *name;
	void (*run)(u32 times);      /* with interrupts off */
	const char *(*begin)(void);  /* makes it runnable: NULL, or why it is not; not set: it always is */
	void (*end)(void);           /* after a begin() that made it so */
};

extern const struct nsmod_measured nsmod_measured_instructions[];
extern const u32 nsmod_measured_instructions_count;

/* Probes with a recorder come last; the recorder is there from the first of them on. */
extern const struct nsmod_measured nsmod_measured_idle_macros[], nsmod_measured_macros[];
extern const u32 nsmod_measured_macros_count; /* of either */

/* NULL, or why no probe can record.  drain: between batches, makes room in the rings. */
const char *nsmod_measure_macros_begin(void);
void nsmod_measure_macros_drain(void);
void nsmod_measure_macros_end(void);

#endif /* NSMOD_MEASURE_H */
