/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes for kernel modules: the macros of libnsprobe, written into nsmod's
 * rings while a recorder is there (`nsdump record --kernel ...`).
 *
 *	NET_SLICE_START(name); ... NET_SLICE_STOP(name);   one slice; slices nest
 *	NET_SLICE_MARK(name, value);                       a value at a point in time
 *	NET_SLICE_INIT(unit, number, packets, bytes); NET_SLICE_EXIT(unit);
 *
 * In any context, NMI included.  A START and its STOP run in one context: a
 * slice that a process begins must not be ended by an interrupt.  While nobody
 * records, a probe is a no-operation instruction (a jump label).  `name` is an
 * identifier.  With NETSLICE_DISABLE defined nothing is compiled in.
 *
 * Build: ccflags-y += -I.../nsmod/include -I.../nsmod/uapi, and
 * KBUILD_EXTRA_SYMBOLS = .../nsmod/Module.symvers.
 */
#ifndef NSLICE_KERNEL_H
#define NSLICE_KERNEL_H

#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/types.h>

#include <nslice/record.h>

#ifdef NETSLICE_DISABLE

#define NET_SLICE_START(name) do { } while (0)
#define NET_SLICE_STOP(name) do { } while (0)
#define NET_SLICE_EXIT(name) do { } while (0)
#define NET_SLICE_MARK(name, value) do { } while (0)
#define NET_SLICE_INIT(name, number, packets, bytes) do { } while (0)

#else

/* One place in the source.  Not API but for the macros below. */
struct nslice_kernel_site {
	u64 bits;   /* what its records say besides time and thread; 0: nsmod has not seen it yet */
	u32 line;
	u8 kind;
	u8 words;
	u8 is_listed;
	u8 reserved;
	const char *name;
	const char *file;
	struct llist_node node;
};

DECLARE_STATIC_KEY_FALSE(nslice_kernel_key);

void nslice_kernel_record(struct nslice_kernel_site *site);
void nslice_kernel_record_1(struct nslice_kernel_site *site, u64 word);
void nslice_kernel_record_3(struct nslice_kernel_site *site, u64 a, u64 b, u64 c);

#define NSLICE_KERNEL_SITE(name_, kind_, words_)                                            \
	static struct nslice_kernel_site nslice_site __section(".data..nslice_sites") = {   \
		.line = __LINE__,                                                           \
		.kind = kind_,                                                              \
		.words = words_,                                                            \
		.name = #name_,                                                             \
		.file = __FILE__,                                                           \
	}

#define NSLICE_KERNEL_PROBE(name_, kind_, words_, call_)                                    \
	do {                                                                                \
		NSLICE_KERNEL_SITE(name_, kind_, words_);                                   \
		if (static_branch_unlikely(&nslice_kernel_key))                             \
			call_;                                                              \
	} while (0)

#define NET_SLICE_START(name) NSLICE_KERNEL_PROBE(name, NSLICE_KIND_START, 0, nslice_kernel_record(&nslice_site))
#define NET_SLICE_STOP(name) NSLICE_KERNEL_PROBE(name, NSLICE_KIND_STOP, 0, nslice_kernel_record(&nslice_site))
#define NET_SLICE_EXIT(name) NSLICE_KERNEL_PROBE(name, NSLICE_KIND_EXIT, 0, nslice_kernel_record(&nslice_site))
#define NET_SLICE_MARK(name, value) \
	NSLICE_KERNEL_PROBE(name, NSLICE_KIND_MARK, 1, nslice_kernel_record_1(&nslice_site, (u64)(value)))
#define NET_SLICE_INIT(name, number, packets, bytes) \
	NSLICE_KERNEL_PROBE(name, NSLICE_KIND_INIT, 3, \
			    nslice_kernel_record_3(&nslice_site, (u64)(number), (u64)(packets), (u64)(bytes)))

#endif /* NETSLICE_DISABLE */

#endif /* NSLICE_KERNEL_H */
