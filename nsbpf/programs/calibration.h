/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What a record costs: programs on one tracepoint, for calls of the recorder's own thread.  Either
 * several programs write a record each, one behind the other, or one program writes records of a
 * kind between two others.
 */
#include "work.h"

__u32 nsbpf_calibrated_thread;
__u32 nsbpf_calibrated_mode; /* enum nsbpf_calibration */
__u64 nsbpf_calibrated_chain = 3;

static __always_inline bool nsbpf_is_calibrating(__u32 *thread)
{
	*thread = (__u32)bpf_get_current_pid_tgid();
	return *thread == nsbpf_calibrated_thread;
}

#define NSBPF_CALIBRATE(number)                                                              \
	SEC("tp_btf/sys_enter")                                                              \
	int BPF_PROG(calibrate_##number)                                                     \
	{                                                                                    \
		__u32 thread;                                                                \
                                                                                             \
		if (nsbpf_is_calibrating(&thread) && nsbpf_calibrated_mode == NSBPF_CALLS_OF_PROGRAMS) \
			nsbpf_write(NSBPF_CALIBRATION, thread, NULL, 0);                     \
		return 0;                                                                    \
	}

NSBPF_CALIBRATE(0)
NSBPF_CALIBRATE(1)
NSBPF_CALIBRATE(2)
NSBPF_CALIBRATE(3)

/* As the points do, but whatever the process that is recorded. */
static __always_inline void nsbpf_calibrated_write(const enum nsbpf_point point, const __u64 *words,
						   const __u32 count)
{
	__u32 thread;

	if (nsbpf_passes_thread(&thread) || thread == nsbpf_calibrated_thread)
		nsbpf_write(point, thread, words, count);
}

/* As the probes of <nslice/bpf.h>, into the recorder's rings. */
__attribute__((noinline)) int nsbpf_probe_0(__u64 bits)
{
	return nslice_bpf_write(&nsbpf_rings, nsbpf_ring_mask, bits, NULL, 0);
}

__attribute__((noinline)) int nsbpf_probe_1(__u64 bits, __u64 word)
{
	return nslice_bpf_write(&nsbpf_rings, nsbpf_ring_mask, bits, &word, 1);
}

__attribute__((noinline)) int nsbpf_probe_3(__u64 bits, __u64 a, __u64 b, __u64 c)
{
	const __u64 words[] = { a, b, c };

	return nslice_bpf_write(&nsbpf_rings, nsbpf_ring_mask, bits, words, 3);
}

static __always_inline void nsbpf_probe_write(const enum nsbpf_point point, const __u64 *words,
					      const __u32 count)
{
	const __u64 bits = *(volatile __u64 *)&nsbpf_bits[point];

	if (!bits)
		return;
	if (count == 0)
		nsbpf_probe_0(bits);
	else if (count == NSLICE_MARK_WORDS)
		nsbpf_probe_1(bits, words[0]);
	else
		nsbpf_probe_3(bits, words[0], words[1], words[2]);
}

static __always_inline void nsbpf_calibrated_record(const enum nsbpf_point point,
						    const __u64 *words, const __u32 count,
						    const bool by_probes)
{
	if (by_probes)
		nsbpf_probe_write(point, words, count);
	else
		nsbpf_calibrated_write(point, words, count);
}

static __always_inline void nsbpf_calibrate(const enum nsbpf_point point, const bool has_records,
					    const __u32 count, const __u32 work, const bool by_probes)
{
	const __u64 words[NSLICE_INIT_WORDS] = { 1, 1, 60 };
	__u64 chain = nsbpf_calibrated_chain;
	__u32 i;

	nsbpf_calibrated_record(NSBPF_CALIBRATION, NULL, 0, by_probes);
	nsbpf_work(&chain, work);
#pragma clang loop unroll(full)
	for (i = 0; i < NSBPF_CALIBRATED_RECORDS; ++i) {
		if (has_records)
			nsbpf_calibrated_record(point, words, count, by_probes);
		nsbpf_work(&chain, work);
	}
	nsbpf_calibrated_record(NSBPF_CALIBRATION, NULL, 0, by_probes);
	*(volatile __u64 *)&nsbpf_calibrated_chain = chain;
}

#define NSBPF_CALIBRATED_WORK 32

static __always_inline void nsbpf_calibrate_mode(const __u32 work, const bool by_probes)
{
	switch (nsbpf_calibrated_mode & ~(NSBPF_ALONE | NSBPF_PROBES)) {
	case NSBPF_NO_RECORDS:
		nsbpf_calibrate(NSBPF_CALIBRATION, false, 0, work, by_probes);
		break;
	case NSBPF_ENDS:
		nsbpf_calibrate(NSBPF_CALIBRATION, true, 0, work, by_probes);
		break;
	case NSBPF_MARKS:
		nsbpf_calibrate(NSBPF_CALIBRATION_MARK, true, NSLICE_MARK_WORDS, work, by_probes);
		break;
	case NSBPF_INITS:
		nsbpf_calibrate(NSBPF_CALIBRATION_INIT, true, NSLICE_INIT_WORDS, work, by_probes);
		break;
	}
}

#define NSBPF_CALIBRATE_INSIDE(name, by_probes, writer)                             \
	SEC("tp_btf/sys_enter")                                                     \
	int BPF_PROG(calibrate_##name)                                              \
	{                                                                           \
		const __u32 mode = nsbpf_calibrated_mode;                           \
		__u32 thread;                                                       \
                                                                                    \
		if (!nsbpf_is_calibrating(&thread) ||                               \
		    mode == NSBPF_CALLS_OF_PROGRAMS || (mode & NSBPF_PROBES) != writer) \
			return 0;                                                   \
		if (mode & NSBPF_ALONE)                                             \
			nsbpf_calibrate_mode(0, by_probes);                         \
		else                                                                \
			nsbpf_calibrate_mode(NSBPF_CALIBRATED_WORK, by_probes);     \
		return 0;                                                           \
	}

NSBPF_CALIBRATE_INSIDE(inside, false, 0)
NSBPF_CALIBRATE_INSIDE(probes, true, NSBPF_PROBES)
