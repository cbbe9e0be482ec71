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

#include <linux/cache.h>
#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <nslice/record.h>
#include <nslice/ring.h>

#ifdef NETSLICE_DISABLE

#define NET_SLICE_START(name) do { } while (0)
#define NET_SLICE_STOP(name) do { } while (0)
#define NET_SLICE_EXIT(name) do { } while (0)
#define NET_SLICE_MARK(name, value) do { } while (0)
#define NET_SLICE_INIT(name, number, packets, bytes) do { } while (0)

#else

/* One place in the source.  Not API but for the macros at the end.  The first three fields are read by assembly. */
struct nslice_kernel_site {
	u64 bits;           /* what its records say besides time and thread; 0: nsmod has not seen it yet */
	u64 step;           /* of the ring's position by one of its records */
	u64 __percpu *head; /* of the ring */
	u32 line;
	u8 kind;
	u8 words;
	u8 reserved[2];
	const char *name;
	const char *file;
	struct llist_node node;
};

DECLARE_STATIC_KEY_FALSE(nslice_kernel_key);
DECLARE_PER_CPU_ALIGNED(struct nslice_ring_meta, nslice_kernel_ring);

void nslice_kernel_record(struct nslice_kernel_site *site);
void nslice_kernel_record_1(struct nslice_kernel_site *site, u64 word);
void nslice_kernel_record_3(struct nslice_kernel_site *site, u64 a, u64 b, u64 c);

/* bits_: 0, since nsmod gives them out. */
#define NSLICE_KERNEL_SITE(ring_, name_, kind_, words_, bits_)                              \
	static struct nslice_kernel_site nslice_site __section(".data..nslice_sites") = {   \
		.bits = bits_,                                                              \
		.step = NSLICE_POSITION_STEP(NSLICE_HEAD_UNITS + words_),                   \
		.head = &ring_.head,                                                        \
		.line = __LINE__,                                                           \
		.kind = kind_,                                                              \
		.words = words_,                                                            \
		.name = name_,                                                              \
		.file = __FILE__,                                                           \
	}

#ifdef CONFIG_ARM64

/* Called by the assembly below only: the address of their site stands in the code, behind the branch that they return to. */
void nslice_kernel_record_lean(void);
void nslice_kernel_record_lean_1(void);
void nslice_kernel_record_lean_3(void);

#define NSLICE_KERNEL_CALL(function_, behind_)                                              \
	"bl " function_ "\n\t"                                                              \
	"b " behind_ "\n\t"                                                                 \
	".quad %c[site]\n\t"

/* What a function may change. */
#define NSLICE_KERNEL_CLOBBERS                                                              \
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",    \
	"x13", "x14", "x15", "x16", "x17", NSLICE_KERNEL_X18 "x30", "memory", "cc"
#ifdef CONFIG_SHADOW_CALL_STACK
#define NSLICE_KERNEL_X18
#else
#define NSLICE_KERNEL_X18 "x18",
#endif

/*
 * One statement, jump label and all: as many instructions at every place, which
 * is what makes corrected instruction counts exact.
 */
#define NSLICE_KERNEL_PROBE(key_, ring_, name_, kind_, bits_)                               \
	do {                                                                                \
		NSLICE_KERNEL_SITE(ring_, name_, kind_, 0, bits_);                          \
		asm volatile("1:	nop\n\t"                                            \
			     ".pushsection __jump_table, \"aw\"\n\t"                        \
			     ".align 3\n\t"                                                 \
			     ".long 1b - ., 2f - .\n\t"                                     \
			     ".quad %c[key] - .\n\t"                                        \
			     ".popsection\n\t"                                              \
			     ".subsection 1\n\t"                                            \
			     ".balign 8\n"                                                  \
			     "2:	" NSLICE_KERNEL_CALL("nslice_kernel_record_lean", "3f") \
			     ".previous\n"                                                  \
			     "3:"                                                           \
			     : : [key] "i"(&key_.key), [site] "i"(&nslice_site)             \
			     : NSLICE_KERNEL_CLOBBERS);                   \
	} while (0)

/* Within the branch, since the values are not to be made while nobody records; their way into registers is the probe's. */
#define NSLICE_KERNEL_PROBE_1(key_, ring_, name_, kind_, bits_, a_)                         \
	do {                                                                                \
		NSLICE_KERNEL_SITE(ring_, name_, kind_, 1, bits_);                          \
		if (static_branch_unlikely(&key_))                                          \
			asm volatile("mov x1, %[a]\n\t"                                     \
				     NSLICE_KERNEL_CALL("nslice_kernel_record_lean_1", "1f") \
				     "1:"                                                   \
				     : : [a] "r"((u64)(a_)), [site] "i"(&nslice_site)       \
				     : NSLICE_KERNEL_CLOBBERS);           \
	} while (0)

#define NSLICE_KERNEL_PROBE_3(key_, ring_, name_, kind_, bits_, a_, b_, c_)                 \
	do {                                                                                \
		NSLICE_KERNEL_SITE(ring_, name_, kind_, 3, bits_);                          \
		if (static_branch_unlikely(&key_))                                          \
			asm volatile("mov x1, %[a]\n\t"                                     \
				     "mov x2, %[b]\n\t"                                     \
				     "mov x3, %[c]\n\t"                                     \
				     NSLICE_KERNEL_CALL("nslice_kernel_record_lean_3", "1f") \
				     "1:"                                                   \
				     : : [a] "r"((u64)(a_)), [b] "r"((u64)(b_)),            \
					 [c] "r"((u64)(c_)), [site] "i"(&nslice_site)       \
				     : NSLICE_KERNEL_CLOBBERS);           \
	} while (0)

#else

#define NSLICE_KERNEL_PROBE_ANY(key_, ring_, name_, kind_, words_, bits_, call_)            \
	do {                                                                                \
		NSLICE_KERNEL_SITE(ring_, name_, kind_, words_, bits_);                     \
		if (static_branch_unlikely(&key_))                                          \
			call_;                                                              \
	} while (0)

#define NSLICE_KERNEL_PROBE(key_, ring_, name_, kind_, bits_) \
	NSLICE_KERNEL_PROBE_ANY(key_, ring_, name_, kind_, 0, bits_, nslice_kernel_record(&nslice_site))
#define NSLICE_KERNEL_PROBE_1(key_, ring_, name_, kind_, bits_, a_) \
	NSLICE_KERNEL_PROBE_ANY(key_, ring_, name_, kind_, 1, bits_, nslice_kernel_record_1(&nslice_site, (u64)(a_)))
#define NSLICE_KERNEL_PROBE_3(key_, ring_, name_, kind_, bits_, a_, b_, c_)                 \
	NSLICE_KERNEL_PROBE_ANY(key_, ring_, name_, kind_, 3, bits_,                        \
				nslice_kernel_record_3(&nslice_site, (u64)(a_), (u64)(b_), (u64)(c_)))

#endif /* CONFIG_ARM64 */

#define NET_SLICE_START(name) NSLICE_KERNEL_PROBE(nslice_kernel_key, nslice_kernel_ring, #name, NSLICE_KIND_START, 0)
#define NET_SLICE_STOP(name) NSLICE_KERNEL_PROBE(nslice_kernel_key, nslice_kernel_ring, #name, NSLICE_KIND_STOP, 0)
#define NET_SLICE_EXIT(name) NSLICE_KERNEL_PROBE(nslice_kernel_key, nslice_kernel_ring, #name, NSLICE_KIND_EXIT, 0)
#define NET_SLICE_MARK(name, value) NSLICE_KERNEL_PROBE_1(nslice_kernel_key, nslice_kernel_ring, #name, NSLICE_KIND_MARK, 0, value)
#define NET_SLICE_INIT(name, number, packets, bytes) \
	NSLICE_KERNEL_PROBE_3(nslice_kernel_key, nslice_kernel_ring, #name, NSLICE_KIND_INIT, 0, number, packets, bytes)

#endif /* NETSLICE_DISABLE */

#endif /* NSLICE_KERNEL_H */
