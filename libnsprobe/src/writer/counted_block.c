/* SPDX-License-Identifier: MIT */
/* Pages of the thread's counters -> what counted_*.S reads.  Runs inside probes. */
#include "counted_block.h"

#include <linux/perf_event.h>

#include <nslice/ring.h>

#include "arch.h"
#include "counters/counters.h"

/*
 * The kernel's protocol for self-monitoring (linux/perf_event.h, struct perf_event_mmap_page) reads
 * lock, index, offset and width of each counter's page, then the register, then the lock again.
 * index, offset and width change only together with the lock, and rarely: when the kernel takes the
 * counter off its register (the thread loses its CPU; another event needs the register) or puts it
 * back, and when a register overflows.  So the assembly compares the locks with those of its copy,
 * and reads nothing else of the pages.
 *
 * Rests on perf_event_update_userpage(), which increments the lock before and after each update,
 * and on its callers: a PMU's del() (x86_pmu_del, armpmu_del), which each switch of threads calls
 * for each counter; what puts it back (x86_pmu_start, armpmu_add); and ..._set_period(), after an
 * overflow.  They update only the page of the counter itself, so that an overflow, or a move to
 * another register (x86_pmu_enable), shows only there: hence every lock is compared after the
 * reading.  Before it, the first one is enough: it shows whether the thread has been off its CPU
 * since, which is when a register may have become inaccessible; a register that was merely moved
 * is read in vain.
 *
 * With an unchanged first lock the thread is also on the same CPU, whose ring the copy has.  A
 * write there is a restartable sequence, as everywhere.
 */

/* index 0: the counter has no register */
const struct perf_event_mmap_page nsp_counted_no_page;

void nsp_counted_forget(void)
{
    for (uint32_t i = 0; i < NSLICE_MAX_COUNTERS; ++i) {
        nsp_thread.counted.slot[i].sum = NSP_COUNTED_NONE;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        nsp_thread.counted.slot[i].page = &nsp_counted_no_page;
    }
}

/* Copies one page; all ones if its register can be read. */
static uint64_t copy_page(struct nsp_counted *block, uint32_t i, uint32_t count)
{
    const struct nsp_thread_counter *const counter = &nsp_thread.counter[i];
    const volatile struct perf_event_mmap_page *const page =
        counter->page ? counter->page : &nsp_counted_no_page;
    uint32_t is_readable;

    /* Before all others: if the page changes meanwhile, the assembly finds another lock. */
    block->lock[i] = page->lock;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    block->page[i] = (const void *)page;
    block->spare_bits[i] = 64u - page->pmc_width;
    block->offset[i] = (uint64_t)page->offset - counter->detour;
    is_readable = nsp_register_reader(page->index, page->pmc_width, i % 2 == 0 && i + 1 < count,
                                      &block->reader[i]);
    return -(uint64_t)(is_readable & (uint32_t)page->cap_user_rdpmc);
}

/*
 * A signal handler's probe may get here while the thread is in the middle of this.  It would
 * replace some values and not others, so it fills a block that nothing reads; and it has changed
 * the detours, which are in the offsets, so the block of the thread is not valid either.
 */
void nsp_counted_refresh(struct nsp_detail_state *state)
{
    struct nsp_counted unused;
    struct nsp_counted *const blocks[2] = {&nsp_thread.counted, &unused};
    const uint32_t was_refreshing = nsp_thread.is_refreshing;
    struct nsp_counted *const block = blocks[was_refreshing & 1];
    /* pairs with the release in publish_state(): the other values are not older than the key */
    const uint32_t key = __atomic_load_n(&state->key, __ATOMIC_ACQUIRE),
                   count = __atomic_load_n(&state->counters, __ATOMIC_RELAXED);
    uint64_t is_valid = ~0ull, cpu;

    if (count - 1 >= NSLICE_MAX_COUNTERS) /* another session has begun, without counters */
        return;
    nsp_thread.is_refreshing = 1;
    nsp_thread.was_refreshed_inside = was_refreshing;
    block->slot[count - 1].sum = NSP_COUNTED_NONE;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < count; ++i)
        is_valid &= copy_page(block, i, count);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    cpu = nsp_current_cpu(); /* after the locks, for the same reason */
    is_valid &= -(uint64_t)(cpu < __atomic_load_n(&state->cpus, __ATOMIC_RELAXED));
    block->head = __atomic_load_n(&state->rings, __ATOMIC_RELAXED) +
                  cpu * __atomic_load_n(&state->stride_bytes, __ATOMIC_RELAXED) +
                  NSP_DETAIL_RING_HEAD;
    block->thread_and_count = nsp_detail_thread_id | (uint64_t)count << NSLICE_HEAD_COUNT_SHIFT;
    block->step = NSLICE_POSITION_STEP(NSLICE_HEAD_WORDS + count);
    block->state = state;
    block->slot[count - 1].page = block->page[0];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    block->slot[count - 1].sum = ((uint64_t)key << 32 | block->lock[0]) | ~is_valid;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    nsp_thread.is_refreshing = was_refreshing;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* Behind the above: a handler that comes now fills the thread's block itself. */
    block->slot[count - 1].sum |= -(uint64_t)(nsp_thread.was_refreshed_inside & 1);
}
