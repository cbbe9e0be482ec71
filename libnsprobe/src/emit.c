/* SPDX-License-Identifier: MIT */
/* Cold half of the writer: site + counters -> record -> ring.  Built without vector instructions, calls no library. */
#include "emit.h"

#include <signal.h>
#include <sys/syscall.h>

#include "arch.h"
#include "counters.h"
#include "thread.h"
#include "thread_begin.h"

NSP_THREAD_LOCAL uint32_t nsp_detail_thread_id;
NSP_THREAD_LOCAL struct nsp_thread nsp_thread;

static uint32_t site_kind(const struct nsp_site *site)
{
    return site->head_bits >> 16 & 0xff;
}

/* A trap that meets a blocked SIGTRAP ends the process: threads and handlers that block all signals are common. */
static void unblock_trap(void)
{
    const uint64_t set = 1ull << (SIGTRAP - 1);

    nsp_syscall4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, sizeof(set));
}

/*
 * Keeps the thread's books for the step source.  1: this probe carries counts.
 * A slice that is open when an uncounted unit follows has a gap, so it ends
 * without counts (step_void); slices opened later end first.
 */
static int step_account(uint32_t kind)
{
    switch (kind) {
    case NSLICE_KIND_START:
        if (nsp_thread.step_skip)
            return 0;
        ++nsp_thread.step_depth;
        unblock_trap();
        return 1;
    case NSLICE_KIND_STOP:
        if (nsp_thread.step_depth > 0) {
            --nsp_thread.step_depth;
            return 1;
        }
        if (nsp_thread.step_void > 0)
            --nsp_thread.step_void;
        return 0;
    case NSLICE_KIND_EXIT:
        if (nsp_step_keep_skip)
            return 0;
        nsp_thread.step_skip = ++nsp_thread.units_seen % nsp_step_every != 0;
        if (nsp_thread.step_skip) {
            nsp_thread.step_void += nsp_thread.step_depth;
            nsp_thread.step_depth = 0;
        }
        return 0;
    default:
        return 0;
    }
}

/* Counter values for a START or STOP; returns how many words they take. */
static uint32_t read_counters(struct nsp_detail_state *state, uint64_t *words)
{
    const struct nsp_counter_ops *source = nsp_active_source;

    if (source && nsp_thread.generation != nsp_session_generation)
        nsp_thread_begin_counters();
    if (!source || nsp_thread.counters_failed || !source->read(words, state->counters))
        return 0;
    return state->counters;
}

int nsp_detail_emit(struct nsp_detail_state *state, const struct nsp_site *site, const uint64_t *words)
{
    const int stepping = state->mode == NSP_DETAIL_MODE_STEP;
    const uint32_t kind = site_kind(site);
    uint32_t count = site->head_bits >> 24, bits = site->head_bits;
    uint64_t record[NSLICE_MAX_RECORD_UNITS];
    int counted = 1;

    if (nsp_detail_thread_id == 0)
        nsp_detail_thread_id = (uint32_t)nsp_syscall3(SYS_gettid, 0, 0, 0);
    if (stepping)
        counted = step_account(kind);
    if (state->counters > 0 && (kind == NSLICE_KIND_START || kind == NSLICE_KIND_STOP)) {
        count = counted ? read_counters(state, record + NSLICE_HEAD_UNITS) : 0;
        bits |= count << 24;
    } else {
        for (uint32_t i = 0; i < count; ++i)
            record[NSLICE_HEAD_UNITS + i] = words[i];
    }
    record[1] = (uint64_t)bits << 32 | nsp_detail_thread_id;
    nsp_push(state, record, NSLICE_HEAD_UNITS + count);
    return stepping && nsp_thread.step_depth > 0;
}
