/* SPDX-License-Identifier: GPL-2.0 */
/* Announcements of a session's processes -> INFO, SITES and CALIBRATION chunks. */
#ifndef NSMOD_ANNOUNCEMENTS_H
#define NSMOD_ANNOUNCEMENTS_H

#include <linux/types.h>

struct nsmod_memory;
struct nsmod_output;

struct nsmod_announcements {
	u64 cursor;                 /* in the log */
	u64 end_calibration_offset; /* of the last one of that phase in the file */
	u64 skipped;
	u64 awaited;                 /* cursor of one that was not whole, and 1; 0: none */
	unsigned long awaited_until; /* jiffies */
};

/* Bytes of the log that are claimed. */
u64 nsmod_announcements_tail(const struct nsmod_memory *memory);

/* All that are whole.  0 or -errno. */
int nsmod_announcements_write(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

/*
 * After that: one below the tail is not whole yet, and behind it may be the sites of records that were made before the tail was read.
 * Its writer has 50 ms, then nobody waits for it any more.
 */
bool nsmod_announcements_are_awaited(struct nsmod_announcements *own, u64 tail);

/* All, when nobody announces any more: passes over those whose writer died, and tells how many. */
int nsmod_announcements_settle(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

#endif /* NSMOD_ANNOUNCEMENTS_H */
