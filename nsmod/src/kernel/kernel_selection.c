// SPDX-License-Identifier: GPL-2.0
/* Rules of a recording: read by sites in any context when they decide, replaced by RCU. */
#include "kernel/kernel_selection.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>

#include <nslice/record.h>
#include <nslice/rules.h>

static char __rcu *rules; /* NULL: all */

int nsmod_kernel_selection_set(const char *text)
{
	char *before, *copy = text ? kstrdup(text, GFP_KERNEL) : NULL;

	if (text && !copy)
		return -ENOMEM;
	before = rcu_replace_pointer(rules, copy, true);
	if (before || copy)
		synchronize_rcu();
	kfree(before);
	return 0;
}

bool nsmod_kernel_is_selected(u8 kind, const char *name)
{
	/* Without RCU's own checks, which are not for NMIs: preemption is off. */
	const char *now = rcu_dereference_raw(rules);

	return !now || kind == NSLICE_KIND_INIT || kind == NSLICE_KIND_EXIT || nslice_rules_select(now, name, true);
}
