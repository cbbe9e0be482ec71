/* SPDX-License-Identifier: GPL-2.0 */
/* Places in the kernel that write records: of the groups, and of other modules (nslice/kernel.h). */
#ifndef NSMOD_KERNEL_SITES_H
#define NSMOD_KERNEL_SITES_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include <nslice/file.h>

struct nsmod_output;

#define NSMOD_KERNEL_IDS (0x10000 - NSLICE_KERNEL_FIRST_ID)

/* Which sites a trace has already.  All zero: none. */
struct nsmod_written_sites {
	u32 seen; /* of nsmod_kernel_sites' changes */
	DECLARE_BITMAP(ids, NSMOD_KERNEL_IDS);
};

int nsmod_kernel_sites_init(void);
void nsmod_kernel_sites_exit(void);

/* An id for a name that a group's probe writes: the same at every call.  flags: NSLICE_SITE_*.  0: no ids are left. */
u16 nsmod_kernel_site_id(const char *name, const char *file, u32 line, u8 kind, u8 flags);

/* Sites that the trace does not have yet, as chunks: of all records below the heads that were read before.  0 or -ENOMEM. */
int nsmod_kernel_sites_write(struct nsmod_output *output, struct nsmod_written_sites *written);

/* Sites that found no id. */
u64 nsmod_kernel_sites_unnamed(void);

#endif /* NSMOD_KERNEL_SITES_H */
