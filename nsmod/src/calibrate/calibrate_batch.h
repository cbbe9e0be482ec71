/* SPDX-License-Identifier: GPL-2.0 */
/* Probes on a scratch ring, in batches of n and 2n -> cost of one probe, one sample per batch. */
#ifndef NSMOD_CALIBRATE_BATCH_H
#define NSMOD_CALIBRATE_BATCH_H

#include <linux/types.h>

#include <nslice/record.h>

#define NSMOD_CALIBRATE_KINDS 4
#define NSMOD_CALIBRATE_FIELDS (1 + NSLICE_MAX_COUNTERS) /* clock, counters */
#define NSMOD_CALIBRATE_BATCHES 32
#define NSMOD_CALIBRATE_RING_BYTES 65536
#define NSMOD_CALIBRATE_UNIT_BITS 10 /* samples are in 2^-10 */

/* START means the pair. */
extern const u8 nsmod_calibrated_kinds[NSMOD_CALIBRATE_KINDS];

/* Samples of one kind on one CPU. */
struct nsmod_samples {
	u32 count;
	s64 inner[NSMOD_CALIBRATE_FIELDS][NSMOD_CALIBRATE_BATCHES];
	s64 outer[NSMOD_CALIBRATE_FIELDS][NSMOD_CALIBRATE_BATCHES];
};

/* To be called once before nsmod_calibrate_kind(); may sleep. */
void nsmod_calibrate_prepare(void);

/*
 * Calibrates on this CPU, which the caller must not leave.  data:
 * NSMOD_CALIBRATE_RING_BYTES for records.  Interrupts are off for about 50 us
 * at a time; ends after budget_ns if there are enough batches.
 */
void nsmod_calibrate_kind(u32 kind_index, u32 fields, u64 *data, u64 budget_ns, struct nsmod_samples *samples);

#endif /* NSMOD_CALIBRATE_BATCH_H */
