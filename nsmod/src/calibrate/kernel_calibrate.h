/* SPDX-License-Identifier: GPL-2.0 */
/* Cost of kernel probes on each CPU, in ticks and counts -> a KERNEL_CALIBRATION chunk. */
#ifndef NSMOD_KERNEL_CALIBRATE_H
#define NSMOD_KERNEL_CALIBRATE_H

#include <linux/types.h>

#include <nslice/file.h>

struct nsmod_output;

/*
 * A chunk's payload.  Measured with separate probes and rings, so that records
 * may be made meanwhile.
 */
struct nsmod_kernel_calibration {
	struct nslice_file_kernel_calibration *payload; /* entries follow; NULL: not calibrated */
};

/*
 * For the current way of writing records (nsmod_general_begin()), for the clock
 * and `counters` counters.  0 or -ENOMEM.
 */
int nsmod_kernel_calibrate(struct nsmod_kernel_calibration *calibration, u32 phase, u32 counters);

/* Writes its chunks, if any; after a failure, all of them must be written again.  0 or -ENOMEM. */
int nsmod_kernel_calibration_write(const struct nsmod_kernel_calibration *calibration, struct nsmod_output *output);

void nsmod_kernel_calibration_destroy(struct nsmod_kernel_calibration *calibration);

#endif /* NSMOD_KERNEL_CALIBRATE_H */
