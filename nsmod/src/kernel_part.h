/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's part of a trace: a recorder starts its rings and groups; their records -> chunks. */
#ifndef NSMOD_KERNEL_PART_H
#define NSMOD_KERNEL_PART_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "kernel_calibrate.h"
#include "kernel_sites.h"

struct nsmod_drained_ring;
struct nsmod_kernel_request;
struct nsmod_output;

struct nsmod_kernel_part {
	bool is_owner; /* of the machine's one place for a recorder */
	bool is_recording;
	bool is_settled;
	struct nsmod_drained_ring *rings;
	struct nsmod_written_sites written;
	u32 counters;
	struct nsmod_kernel_calibration at_start, at_end;
	struct work_struct calibrating; /* at_start, beside a drain that goes on */
	bool is_held;       /* the records: what their correction needs comes before them */
	bool is_calibrated;
};

/*
 * What a request asks for, copied from its caller and checked.  One recorder a machine at a time: -EBUSY.  Calibrates for some 16 ms
 * on each CPU, before there are records.
 */
int nsmod_kernel_part_start(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output);

/* The same for a drain that has rings to empty meanwhile: calibrates while the first records are made, which wait for it in the rings. */
int nsmod_kernel_part_start_beside(struct nsmod_kernel_part *part, const struct nsmod_kernel_request *request, struct nsmod_output *output);

/* Bytes taken out of the fullest ring, or -errno (-ENOSPC: the output is full, call again when it is not). */
s64 nsmod_kernel_part_pass(struct nsmod_kernel_part *part, struct nsmod_output *output);

/* Probes off; the rest of the rings may be drained by further passes. */
void nsmod_kernel_part_stop(struct nsmod_kernel_part *part);

/* After the stop: what is left, and the totals.  0 or -errno as above. */
int nsmod_kernel_part_settle(struct nsmod_kernel_part *part, struct nsmod_output *output);

/* Gives all back; at any time. */
void nsmod_kernel_part_destroy(struct nsmod_kernel_part *part);

#endif /* NSMOD_KERNEL_PART_H */
