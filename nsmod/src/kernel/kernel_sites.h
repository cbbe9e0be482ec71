/* SPDX-License-Identifier: GPL-2.0 */
/* Sites in the kernel: those of the groups and of other modules (nslice/kernel.h). */
#ifndef NSMOD_KERNEL_SITES_H
#define NSMOD_KERNEL_SITES_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include <nslice/file.h>

struct nsmod_output;

#define NSMOD_KERNEL_IDS (0x10000 - NSLICE_KERNEL_FIRST_ID)

/* Sites that a trace already has.  All zero: none. */
struct nsmod_written_sites {
	u32 seen; /* value of `changes` when last written */
	DECLARE_BITMAP(ids, NSMOD_KERNEL_IDS);
};

int nsmod_kernel_sites_init(void);
void nsmod_kernel_sites_exit(void);

/* Id of a group's site: the same at every call.  flags: NSLICE_SITE_*.  0: no ids left. */
u16 nsmod_kernel_site_id(const char *name, const char *file, u32 line, u8 kind, u8 flags);

/*
 * Writes the sites of all records below the heads read before, unless the trace
 * already has them.  0 or -ENOMEM.
 */
int nsmod_kernel_sites_write(struct nsmod_output *output, struct nsmod_written_sites *written);

/*
 * After the rules have changed: each site decides again at its next record
 * whether it is on.  A record that is being written may still appear.
 */
void nsmod_kernel_sites_decide_again(void);

/* Number of sites without an id. */
u64 nsmod_kernel_sites_unnamed(void);

#endif /* NSMOD_KERNEL_SITES_H */
