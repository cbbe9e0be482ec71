/* SPDX-License-Identifier: MIT */
/* Single-stepping in process on arm64: unsupported. */
#include <errno.h>

#include "session/error.h"
#include "step_trap.h"

/*
 * The architecture steps by a bit of SPSR_EL1 that works only while the kernel has
 * set MDSCR_EL1.SS, which it does only for a tracer's PTRACE_SINGLESTEP: a bit set by
 * a signal handler is cleared (arch/arm64/kernel/ptrace.c,
 * user_regs_reset_single_step()).  Two context switches per instruction through a
 * tracer would be some hundred times slower than the x86-64 method, and the PMU that
 * arm64 machines expose to programs counts exactly.
 */
int nsp_step_catch_traps(void)
{
    return nsp_fail(-ENOTSUP, "source step: unavailable: arm64 does not let a program step itself; "
                              "use a PMU (source rdpmc, perf-read or "
                              "papi), or omit the counters");
}
