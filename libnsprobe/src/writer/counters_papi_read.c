/* SPDX-License-Identifier: MIT */
/* Counter source `papi` inside a probe.  PAPI may use any register, so all are saved around it. */
#include "arch.h"
#include "counters/counters.h"
#include "counters/counters_papi.h"

int nsp_papi_read(uint64_t *words, uint32_t count)
{
    struct nsp_papi_thread *thread = &nsp_papi_thread;
    int is_reported;

    if (thread->is_reading)
        return 0;
    thread->is_reading = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    nsp_detail_call_saving_vectors(nsp_papi_read_now);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < count; ++i)
        words[i] = (uint64_t)thread->values[i];
    is_reported = thread->result == 0;
    /* From here on, a signal handler's probe may read again. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->is_reading = 0;
    return is_reported;
}
