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
};

/* All that are whole.  0 or -errno. */
int nsmod_announcements_write(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

/* The same when nobody announces any more: passes over those whose writer died, and tells how many. */
int nsmod_announcements_settle(struct nsmod_announcements *own, const struct nsmod_memory *memory, struct nsmod_output *output);

#endif /* NSMOD_ANNOUNCEMENTS_H */
