/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Work of known length, for calibration and benchmarks. */
#ifndef NSBPF_WORK_H
#define NSBPF_WORK_H

/* Multiplications of which each waits for the last one. */
static __always_inline void nsbpf_work(__u64 *chain, const __u32 steps)
{
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < steps; ++i)
		asm volatile("%0 *= 7" : "+r"(*chain));
}

#endif /* NSBPF_WORK_H */
