/* SPDX-License-Identifier: MIT */
/* A state with counters -> the code that its START and STOP call, and a key of its own. */
#include "arch.h"
#include "counted_block.h"

void nsp_counted_bind(struct nsp_detail_state *state)
{
    static uint32_t keys;
    const struct nsp_counted_code *const code =
        &nsp_detail_counted_codes[state->ordered != 0][state->counters ? state->counters - 1 : 0];

    state->general = nsp_detail_general;
    state->counted = code->code;
    state->counted_sequence = code->sequence;
    state->counted_rseq_offset = state->rseq_offset;
    state->thread_offset = (const char *)&nsp_thread.counted - nsp_thread_pointer();
    state->key = __atomic_add_fetch(&keys, 1, __ATOMIC_RELAXED);
}
