/* SPDX-License-Identifier: GPL-2.0 */
/* What kernel probes cost on each CPU, in ticks and counts -> a KERNEL_CALIBRATION chunk. */
#ifndef NSMOD_KERNEL_CALIBRATE_H
#define NSMOD_KERNEL_CALIBRATE_H

#include <linux/types.h>

#include <nslice/file.h>

struct nsmod_output;

/* A chunk's payload.  What it was measured with are probes and rings of its own: records may be made meanwhile. */
struct nsmod_kernel_calibration {
	struct nslice_file_kernel_calibration *payload; /* entries follow; NULL: none was made */
};

/* In the way that records are written now (nsmod_general_begin()), for the clock and `counters` counters.  0 or -ENOMEM. */
int nsmod_kernel_calibrate(struct nsmod_kernel_calibration *calibration, u32 phase, u32 counters);

/* As chunks, if there is one; after a failure all of them again.  0 or -ENOMEM. */
int nsmod_kernel_calibration_write(const struct nsmod_kernel_calibration *calibration, struct nsmod_output *output);

void nsmod_kernel_calibration_destroy(struct nsmod_kernel_calibration *calibration);

#endif /* NSMOD_KERNEL_CALIBRATE_H */
