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

static __always_inline void nsbpf_calibrate(const enum nsbpf_point point, const bool has_records,
					    const __u32 count, const __u32 work)
{
	const __u64 words[NSLICE_INIT_WORDS] = { 1, 1, 60 };
	__u64 chain = nsbpf_calibrated_chain;
	__u32 i;

	nsbpf_calibrated_write(NSBPF_CALIBRATION, NULL, 0);
	nsbpf_work(&chain, work);
#pragma clang loop unroll(full)
	for (i = 0; i < NSBPF_CALIBRATED_RECORDS; ++i) {
		if (has_records)
			nsbpf_calibrated_write(point, words, count);
		nsbpf_work(&chain, work);
	}
	nsbpf_calibrated_write(NSBPF_CALIBRATION, NULL, 0);
	*(volatile __u64 *)&nsbpf_calibrated_chain = chain;
}

#define NSBPF_CALIBRATED_WORK 32

static __always_inline void nsbpf_calibrate_mode(const __u32 work)
{
	switch (nsbpf_calibrated_mode & ~NSBPF_ALONE) {
	case NSBPF_NO_RECORDS:
		nsbpf_calibrate(NSBPF_CALIBRATION, false, 0, work);
		break;
	case NSBPF_ENDS:
		nsbpf_calibrate(NSBPF_CALIBRATION, true, 0, work);
		break;
	case NSBPF_MARKS:
		nsbpf_calibrate(NSBPF_CALIBRATION_MARK, true, NSLICE_MARK_WORDS, work);
		break;
	case NSBPF_INITS:
		nsbpf_calibrate(NSBPF_CALIBRATION_INIT, true, NSLICE_INIT_WORDS, work);
		break;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(calibrate_inside)
{
	__u32 thread;

	if (!nsbpf_is_calibrating(&thread) || nsbpf_calibrated_mode == NSBPF_CALLS_OF_PROGRAMS)
		return 0;
	if (nsbpf_calibrated_mode & NSBPF_ALONE)
		nsbpf_calibrate_mode(0);
	else
		nsbpf_calibrate_mode(NSBPF_CALIBRATED_WORK);
	return 0;
}
