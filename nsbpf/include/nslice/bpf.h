/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Probes for BPF programs in C: the macros of libnsprobe, which write into rings in a map of the
 * program while there is a recorder (`nsdump record -k programs -- LOADER`).
 *
 *	NET_SLICE_INIT(unit, number, packets, bytes); NET_SLICE_EXIT(unit);  a packet or batch
 *	NET_SLICE_START(name); ... NET_SLICE_STOP(name);  one slice; slices nest
 *	NET_SLICE_MARK(name, value);  a value at a point in time
 *	if (NET_SLICE_IS_ON()) ...  there is a recorder
 *
 * Names are identifiers of at most 47 characters.  On every path through the program each START
 * must meet its STOP, and INIT its EXIT.  Without a recorder, or if its rules do not select the
 * name, a probe is a load and a branch, and its arguments are not evaluated.  With NETSLICE_DISABLE
 * defined, the macros expand to nothing, and the object has neither maps nor sites.
 *
 * Include it after vmlinux.h or <linux/bpf.h>.  Build with clang 14 or newer and
 *
 *	clang -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 ...     (or _arm64)
 *
 * The program's licence must be one that the kernel accepts for GPL-only helpers, such as
 * "Dual MIT/GPL".  Its loader needs CAP_PERFMON, which bpf_get_current_task_btf() requires, in
 * addition to CAP_BPF and what the type of program requires.  Probes are for all types of programs,
 * on Linux 6.1 or newer with BTF, except between bpf_spin_lock() and bpf_spin_unlock() and in
 * programs that run in an NMI.
 *
 * The map of the rings takes NSLICE_BPF_CPUS * (4 KiB + NSLICE_BPF_RING_BYTES), which a loader
 * adapts to the machine by nsp_bpf_prepare() (<nsprobe/bpf.h>) before it loads the object.  A
 * recorder refuses a program with fewer rings than the machine has CPUs.
 */
#ifndef NSLICE_BPF_H
#define NSLICE_BPF_H

#ifdef NETSLICE_DISABLE

#define NET_SLICE_INIT(unit, number, count, bytes) ((void)0)
#define NET_SLICE_START(name) ((void)0)
#define NET_SLICE_STOP(name) ((void)0)
#define NET_SLICE_MARK(name, value) ((void)0)
#define NET_SLICE_EXIT(unit) ((void)0)
#define NET_SLICE_IS_ON() 0

#else

#include <nslice/bpf_site.h>
#include <nslice/bpf_write.h>

#ifndef NSLICE_BPF_CPUS
#define NSLICE_BPF_CPUS 64
#endif
#ifndef NSLICE_BPF_RING_BYTES
#define NSLICE_BPF_RING_BYTES (256 << 10)
#endif

/* The loader changes it together with the size of the rings, before the verifier reads it. */
__weak const volatile __u32 nslice_bpf_mask SEC(".rodata.nsring") =
	NSLICE_BPF_RING_BYTES / NSLICE_WORD_BYTES - 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NSLICE_BPF_CPUS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, NSLICE_RING_META_BYTES + NSLICE_BPF_RING_BYTES);
} nslice_rings __weak SEC(".maps");

/* Also makes libbpf create a map that can be mapped: it does not for static variables alone. */
__weak struct nslice_bpf_site nslice_bpf_session SEC(NSLICE_BPF_SITES_SECTION) = {};

/* Global functions: the verifier checks each once, however many probes call it. */
__weak __attribute__((noinline)) int nslice_bpf_record(__u64 bits)
{
	return nslice_bpf_write(&nslice_rings, nslice_bpf_mask, bits, (const __u64 *)0, 0);
}

__weak __attribute__((noinline)) int nslice_bpf_record_1(__u64 bits, __u64 word)
{
	return nslice_bpf_write(&nslice_rings, nslice_bpf_mask, bits, &word, 1);
}

__weak __attribute__((noinline)) int nslice_bpf_record_3(__u64 bits, __u64 a, __u64 b, __u64 c)
{
	const __u64 words[] = { a, b, c };

	return nslice_bpf_write(&nslice_rings, nslice_bpf_mask, bits, words, 3);
}

#define NSLICE_BPF_FILE                                                              \
	__builtin_choose_expr(sizeof(__FILE__) <= NSLICE_BPF_FILE_BYTES, __FILE__,   \
			      __FILE_NAME__)

#define NSLICE_BPF_PROBE(name_, kind_, record_, ...)                                             \
	do {                                                                                     \
		static struct nslice_bpf_site nslice_site SEC(NSLICE_BPF_SITES_SECTION) = {      \
			.line = __LINE__, .kind = (kind_), .name = name_, .file = NSLICE_BPF_FILE, \
		};                                                                               \
		const __u64 nslice_bits = *(volatile __u64 *)&nslice_site.bits;                  \
		_Static_assert(sizeof(name_) <= NSLICE_BPF_NAME_BYTES, "name of a slice");       \
		if (__builtin_expect(nslice_bits != 0, 0)) /* off: no branch is taken */         \
			record_(nslice_bits, ##__VA_ARGS__);                                     \
	} while (0)

#define NET_SLICE_INIT(unit, number, count, bytes)                                    \
	NSLICE_BPF_PROBE(#unit, NSLICE_KIND_INIT, nslice_bpf_record_3, (__u64)(number), \
			 (__u64)(count), (__u64)(bytes))
#define NET_SLICE_START(name) NSLICE_BPF_PROBE(#name, NSLICE_KIND_START, nslice_bpf_record)
#define NET_SLICE_STOP(name) NSLICE_BPF_PROBE(#name, NSLICE_KIND_STOP, nslice_bpf_record)
#define NET_SLICE_MARK(name, value) \
	NSLICE_BPF_PROBE(#name, NSLICE_KIND_MARK, nslice_bpf_record_1, (__u64)(value))
#define NET_SLICE_EXIT(unit) NSLICE_BPF_PROBE(#unit, NSLICE_KIND_EXIT, nslice_bpf_record)
#define NET_SLICE_IS_ON() (*(volatile __u64 *)&nslice_bpf_session.bits != 0)

#endif /* NETSLICE_DISABLE */
#endif /* NSLICE_BPF_H */
