/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of sites on the kernel's tracepoints: selected by name, enabled during a recording. */
#ifndef NSMOD_GROUPS_H
#define NSMOD_GROUPS_H

#include <linux/types.h>

#include <nslice/kernel.h>
#include <nslice/points.h>

struct tracepoint;

/* One tracepoint and the record that it writes, as <nslice/points.h> lists them.  Passed to its probe as data. */
struct nsmod_point {
	const char *tracepoint;
	/* void (void *point, arguments of the tracepoint); NULL: another point's probe writes its records */
	void *probe;
	const char *slice; /* name in the trace */
	const char *says;  /* for `nsdump kernel --list` */
	u8 kind;           /* enum nslice_kind */
	u8 words;
	u8 flags;          /* NSLICE_SITE_*, of its site */

	/* internal */
	struct nslice_kernel_site site;
	struct tracepoint *found;
	bool is_attached;
};

struct nsmod_group {
	struct nsmod_point *points; /* beginnings before ends */
	u32 count;
	void (*reset)(void); /* NULL, or clears the state of an earlier recording */
};

/* Number of the recording for which the groups are attached. */
extern u32 nsmod_groups_recording;

#define NSMOD_DECLARE(name, ...) extern const struct nsmod_group nsmod_group_##name;
NSLICE_GROUPS(NSMOD_DECLARE)
#undef NSMOD_DECLARE

/*
 * Comma-separated names; "" for none.  -EINVAL: unknown group; -ENOENT: this
 * kernel has none of a group's tracepoints.  If it has some of them, those are
 * used.  Nothing is attached after an error.
 */
int nsmod_groups_attach(const char *names);
int nsmod_groups_check(const char *names); /* -EINVAL as above */
void nsmod_groups_detach(void);

/* As nsmod_kernel_sites_decide_again(), for the points of the attached groups. */
void nsmod_groups_decide_again(void);

/*
 * INFO lines "kernel.missing.GROUP=tracepoint,..." of the attached groups.
 * Returns bytes written.
 */
size_t nsmod_groups_missing(char *text, size_t room);

/*
 * All groups, one line per point: group, its description, tracepoint, kind,
 * slice, description, "yes" or "no" (this kernel has it).
 */
char *nsmod_groups_list(size_t *bytes);

#endif /* NSMOD_GROUPS_H */
