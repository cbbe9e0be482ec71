/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of places in the kernel, on its tracepoints: chosen by name, switched on while a recorder is there. */
#ifndef NSMOD_GROUPS_H
#define NSMOD_GROUPS_H

#include <linux/types.h>

#include <nslice/kernel.h>

struct tracepoint;

#define NSMOD_MAX_GROUPS_BYTES 256 /* of names, with terminator */

/* One tracepoint and the record that it becomes.  Its probe gets it as data. */
struct nsmod_point {
	const char *tracepoint;
	void *probe;       /* void (void *point, arguments of the tracepoint); NULL: another point's probe writes this one's records */
	const char *slice; /* name in the trace */
	const char *says;  /* for `nsdump kernel --list` */
	u8 kind;           /* enum nslice_kind */
	u8 words;
	u8 flags;          /* NSLICE_SITE_*, of its site */

	/* the module's */
	struct nslice_kernel_site site;
	struct tracepoint *found;
	bool is_attached;
};

struct nsmod_group {
	const char *name;
	const char *says;
	struct nsmod_point *points; /* places where something begins stand before those where it ends */
	u32 count;
	void (*reset)(void); /* NULL, or forgets what an earlier recording left half done */
};

/* Number of the recording that the groups are attached for. */
extern u32 nsmod_groups_recording;

extern const struct nsmod_group nsmod_group_net_rx, nsmod_group_net_tx, nsmod_group_napi, nsmod_group_irq, nsmod_group_softirq,
	nsmod_group_sched, nsmod_group_sock, nsmod_group_tcp_send, nsmod_group_tcp_recv;

/*
 * Names parted by commas; "" for none.  -EINVAL: a name that is no group's; -ENOENT: none of a group's tracepoints is in this
 * kernel.  A group that has only some goes on with those.  Nothing is attached after an error.
 */
int nsmod_groups_attach(const char *names);
int nsmod_groups_check(const char *names); /* -EINVAL as there */
void nsmod_groups_detach(void);

/* INFO lines "kernel.missing.GROUP=tracepoint,..." of the groups that are attached.  Bytes written. */
size_t nsmod_groups_missing(char *text, size_t room);

/* All groups, a line for each point: group, group's words, tracepoint, kind, slice, what it says, "yes" or "no" (this kernel has it). */
char *nsmod_groups_list(size_t *bytes);

#endif /* NSMOD_GROUPS_H */
