// SPDX-License-Identifier: GPL-2.0
/*
 * A record between fences.  They stand at the probe's two ends, as in libnsprobe:
 * neither the probe nor the code around it then runs in the other's shadow.
 */
#include "kernel_general.h"

#include <linux/irqflags.h>

#include "kernel_write.h"

DEFINE_STATIC_KEY_FALSE(nsmod_general_key);

void nsmod_general_begin(bool is_ordered)
{
	if (is_ordered)
		static_branch_enable(&nsmod_general_key);
}

void nsmod_general_end(void)
{
	static_branch_disable(&nsmod_general_key);
}

notrace void nsmod_write_general(struct nslice_kernel_site *site, const u64 *words, u32 count)
{
	nsmod_fence();
	nsmod_write_plain(site, words, count);
	nsmod_fence();
}
