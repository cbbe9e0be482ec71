/* SPDX-License-Identifier: GPL-2.0 */
/* Announcements of a session's processes -> INFO, SITES and CALIBRATION chunks. */
#ifndef NSMOD_ANNOUNCEMENTS_H
#define NSMOD_ANNOUNCEMENTS_H

#include <linux/types.h>

struct nsmod_memory;
struct nsmod_output;

struct nsmod_announcements {
	u64 cursor;                 /* in the log */
	u64 end_calibration_offset; /* of the last END calibration in the file */
	u64 skipped;
	u64 awaited;                 /* cursor of an incomplete one plus 1; 0: none */
	unsigned long awaited_until; /* jiffies */
};

/* Claimed bytes of the log. */
u64 nsmod_announcements_tail(const struct nsmod_memory *memory);

/* Writes all complete ones.  0 or -errno. */
int nsmod_announcements_write(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

/*
 * Called after that: whether an announcement below the tail is incomplete and
 * still awaited.  After it may be the sites of records that were made before
 * the tail was read.  Its writer has 50 ms to complete it.
 */
bool nsmod_announcements_are_awaited(struct nsmod_announcements *own, u64 tail);

/*
 * Writes all when there are no more announcers: skips those whose writer was
 * killed, and reports how many.
 */
int nsmod_announcements_settle(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

#endif /* NSMOD_ANNOUNCEMENTS_H */
