/* SPDX-License-Identifier: GPL-2.0 */
/* `cat /dev/nsmod` with session and kernel in one trace: the parameter `groups`. */
#ifndef NSMOD_KERNEL_BESIDE_H
#define NSMOD_KERNEL_BESIDE_H

#include <linux/types.h>

struct nsmod_kernel_part;
struct nsmod_output;

/* What a reader records in addition to its session. */
struct nsmod_kernel_default {
	char *groups; /* NULL: nothing */
	int refused;  /* -EPERM: permission denied to the opener */
};

/* From the current value of the parameter and the rights of the caller.  0 or -ENOMEM. */
int nsmod_kernel_default_init(struct nsmod_kernel_default *defaults);
void nsmod_kernel_default_destroy(struct nsmod_kernel_default *defaults);

/* After the trace's header: starts the part, or writes to the trace why not.  0 or -ENOMEM. */
int nsmod_kernel_default_start(const struct nsmod_kernel_default *defaults, bool is_session_over, struct nsmod_kernel_part *part,
			       struct nsmod_output *output);

#endif /* NSMOD_KERNEL_BESIDE_H */
