// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/*
 * The kernel's tracepoints -> records.  The name of a program is that of its group and tracepoint,
 * by which the loader selects it.
 */
#include "writer.h"
#include "filter.h"
#include "calls.h"

#include "groups/interrupts.h"
#include "groups/network.h"
#include "groups/tcp_send.h"
#include "groups/tcp_recv.h"

/*
 * Several of these on one tracepoint, one behind the other: what one record costs there is the
 * time from one to the next.  The last one writes a second record, whose cost is less because it
 * needs no call of a program.  Only calls of the recorder's own thread count.
 */
__u32 nsbpf_calibrated_thread;

#define NSBPF_CALIBRATE(number, records)                                                     \
	SEC("tp_btf/sys_enter")                                                              \
	int BPF_PROG(calibrate_##number)                                                     \
	{                                                                                    \
		const __u32 thread = (__u32)bpf_get_current_pid_tgid();                      \
                                                                                             \
		if (thread != nsbpf_calibrated_thread)                                       \
			return 0;                                                            \
		nsbpf_write(NSBPF_CALIBRATION, thread, NULL, 0);                             \
		if (records > 1)                                                             \
			nsbpf_write(NSBPF_CALIBRATION, thread, NULL, 0);                     \
		return 0;                                                                    \
	}

NSBPF_CALIBRATE(0, 1)
NSBPF_CALIBRATE(1, 1)
NSBPF_CALIBRATE(2, 1)
NSBPF_CALIBRATE(3, 2)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
