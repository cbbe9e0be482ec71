/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's part of a trace: rings and groups started by a recorder; their records -> chunks. */
#ifndef NSMOD_KERNEL_PART_H
#define NSMOD_KERNEL_PART_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "calibrate/kernel_calibrate.h"
#include "kernel/kernel_sites.h"

struct nsmod_drained_ring;
struct nsmod_kernel_request;
struct nsmod_output;

struct nsmod_kernel_part {
	bool is_owner; /* is the machine's only recorder */
	bool is_recording;
	bool is_settled;
	struct nsmod_drained_ring *rings;
	struct nsmod_written_sites written;
	u32 counters;
	struct nsmod_kernel_calibration at_start, at_end;
	struct work_struct calibrating; /* makes at_start while the drain continues */
	bool is_held;       /* records wait in their rings until the calibration is written */
	bool is_calibrated;
	bool is_selected; /* INFO must be written: `slices` */
	char *slices;     /* current rules; NULL: all */
};

/*
 * Starts what a request asks for; the request was copied from its caller and
 * checked.  -EBUSY: there is another recorder, and only one is allowed at a
 * time.  Calibrates for about 16 ms on each CPU before there are records.
 */
int nsmod_kernel_part_start(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output);

/*
 * The same for a drain that must empty other rings meanwhile: the first records
 * wait in their rings during the calibration.
 */
int nsmod_kernel_part_start_default(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request,
				    struct nsmod_output *output);

/*
 * New rules for which slices and marks are recorded from now on; NULL: all.
 * Any thread.  0 or -errno; -EBADFD: the recording has ended.
 */
int nsmod_kernel_part_select(struct nsmod_kernel_part *part, const char *slices);

/*
 * Bytes taken from the fullest ring, or -errno (-ENOSPC: the output is full,
 * call again when it has room).
 */
s64 nsmod_kernel_part_pass(struct nsmod_kernel_part *part, struct nsmod_output *output);

/* Disables the probes; further passes may drain the rest of the rings. */
void nsmod_kernel_part_stop(struct nsmod_kernel_part *part);

/* After the stop: writes the remaining records and the totals.  0 or -errno as above. */
int nsmod_kernel_part_settle(struct nsmod_kernel_part *part, struct nsmod_output *output);

/* Releases everything; may be called at any time. */
void nsmod_kernel_part_destroy(struct nsmod_kernel_part *part);

#endif /* NSMOD_KERNEL_PART_H */
