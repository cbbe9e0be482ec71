/* SPDX-License-Identifier: MIT */
/* Single steps in process, on arm64: there are none. */
#include <errno.h>

#include "error.h"
#include "step_trap.h"

/*
 * The architecture steps by a bit of SPSR_EL1 that works only while the kernel
 * has set MDSCR_EL1.SS, which it does for a tracer's PTRACE_SINGLESTEP alone: a
 * signal handler that sets the bit finds it cleared (arch/arm64/kernel/ptrace.c,
 * user_regs_reset_single_step()).  Two context switches an instruction through a
 * tracer would be some hundred times slower than x86-64's way, and the PMU that
 * arm64 machines show to programs counts exactly.
 */
int nsp_step_catch_traps(void)
{
    return nsp_fail(-ENOTSUP, "source step: unavailable: arm64 does not let a program step itself; use a PMU (source rdpmc, perf-read or "
                    "papi), or omit the counters");
}
