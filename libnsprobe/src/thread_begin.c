/* SPDX-License-Identifier: MIT */
/* First probe of a thread in a session with counters: runs ordinary code inside a probe, so all registers are saved around it. */
#include "thread_begin.h"

#include <errno.h>

#include "arch.h"
#include "counters.h"
#include "thread.h"

/* src/arch_*.S: calls function() with the vector state saved. */
void nsp_detail_call_saving_vectors(void (*function)(void));

static void begin(void)
{
    const int saved_errno = errno;

    nsp_thread.counters_failed = nsp_active_source->thread_begin() != 0;
    errno = saved_errno;
}

void nsp_thread_begin_counters(void)
{
    /* A signal handler's probe in the middle of this goes without counters. */
    nsp_thread.counters_failed = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    nsp_thread.generation = nsp_session_generation;
    nsp_detail_call_saving_vectors(begin);
}
