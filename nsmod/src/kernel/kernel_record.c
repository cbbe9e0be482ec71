// SPDX-License-Identifier: GPL-2.0
/* The probes of other modules in C: all on x86-64, the uncommon cases on arm64. */
#include <linux/module.h>

#include <nslice/kernel.h>

#include "kernel/kernel_write.h"

notrace void nslice_kernel_record(struct nslice_kernel_site *site)
{
	nsmod_write(site, NULL, 0);
}
EXPORT_SYMBOL_GPL(nslice_kernel_record);

notrace void nslice_kernel_record_1(struct nslice_kernel_site *site, u64 word)
{
	nsmod_write(site, &word, 1);
}
EXPORT_SYMBOL_GPL(nslice_kernel_record_1);

notrace void nslice_kernel_record_3(struct nslice_kernel_site *site, u64 a, u64 b, u64 c)
{
	const u64 words[] = { a, b, c };

	nsmod_write(site, words, 3);
}
EXPORT_SYMBOL_GPL(nslice_kernel_record_3);
