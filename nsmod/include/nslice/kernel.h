/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes for kernel modules: the macros of libnsprobe, which write into nsmod's
 * rings while there is a recorder (`nsdump record --kernel ...`).
 *
 *	NET_SLICE_START(name); ... NET_SLICE_STOP(name);   one slice; slices nest
 *	NET_SLICE_MARK(name, value);                       a value at a point in time
 *	NET_SLICE_INIT(unit, number, packets, bytes); NET_SLICE_EXIT(unit);
 *
 * `nsdump record --slices` selects slices and marks by name; the others then
 * write no records.  Usable in any context, including NMI.  A START and its STOP must run in the
 * same context: an interrupt must not end a slice begun in a process.  Without
 * a recorder, a probe is a nop (a jump label).  `name` is an identifier.  With
 * NETSLICE_DISABLE defined, probes compile to nothing.
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

/*
 * One place in the source.  Internal to the macros below.  The first three
 * fields are read by assembly.
 */
struct nslice_kernel_site {
	u64 bits;           /* id, kind and word count of its records; 0: first use, or off */
	u64 step;           /* by which one record advances the ring's position */
	u64 __percpu *head; /* of the ring */
	u32 line;
	u8 kind;
	u8 words;
	u16 id;             /* 0: not yet used */
	const char *name;
	const char *file;
	struct llist_node node;
};

DECLARE_STATIC_KEY_FALSE(nslice_kernel_key);
DECLARE_PER_CPU_ALIGNED(struct nslice_ring_meta, nslice_kernel_ring);

void nslice_kernel_record(struct nslice_kernel_site *site);
void nslice_kernel_record_1(struct nslice_kernel_site *site, u64 word);
void nslice_kernel_record_3(struct nslice_kernel_site *site, u64 a, u64 b, u64 c);

/* bits_: 0; assigned by nsmod. */
#define NSLICE_KERNEL_SITE(ring_, name_, kind_, words_, bits_)                              \
	static struct nslice_kernel_site nslice_site __section(".data..nslice_sites") = {   \
		.bits = bits_,                                                              \
		.step = NSLICE_POSITION_STEP(NSLICE_HEAD_WORDS + words_),                   \
		.head = &ring_.head,                                                        \
		.line = __LINE__,                                                           \
		.kind = kind_,                                                              \
		.words = words_,                                                            \
		.name = name_,                                                              \
		.file = __FILE__,                                                           \
	}

#ifdef CONFIG_ARM64

/*
 * Called only by the assembly below: the address of the site is in the code,
 * after the branch that they return to.
 */
void nslice_kernel_record_lean(void);
void nslice_kernel_record_lean_1(void);
void nslice_kernel_record_lean_3(void);

#define NSLICE_KERNEL_CALL(function_, behind_)                                              \
	"bl " function_ "\n\t"                                                              \
	"b " behind_ "\n\t"                                                                 \
	".quad %c[site]\n\t"

/* Registers that a function may change. */
#define NSLICE_KERNEL_CLOBBERS                                                              \
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",    \
	"x13", "x14", "x15", "x16", "x17", NSLICE_KERNEL_X18 "x30", "memory", "cc"
#ifdef CONFIG_SHADOW_CALL_STACK
#define NSLICE_KERNEL_X18
#else
#define NSLICE_KERNEL_X18 "x18",
#endif

/*
 * One statement including the jump label: the number of instructions is the
 * same at every place, which makes corrected instruction counts exact.
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

/*
 * Inside the branch, so that values are computed only with a recorder; moving
 * them to registers is part of the probe.
 */
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
