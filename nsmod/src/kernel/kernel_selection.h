/* SPDX-License-Identifier: GPL-2.0 */
/* Rules of a recording -> which sites in the kernel write records. */
#ifndef NSMOD_KERNEL_SELECTION_H
#define NSMOD_KERNEL_SELECTION_H

#include <linux/types.h>

/*
 * Replaces the rules (uapi/nslice/rules.h), which are valid; NULL: all sites.  When it returns, no
 * decision by the previous ones is in progress: those made before must be made again.  One caller at a
 * time.  0 or -ENOMEM.
 */
int nsmod_kernel_selection_set(const char *rules);

/* Any context, with preemption off until the decision is stored.  Units are always recorded. */
bool nsmod_kernel_is_selected(u8 kind, const char *name);

#endif /* NSMOD_KERNEL_SELECTION_H */
