/* SPDX-License-Identifier: MIT */
/* Counter reads inside a probe: thread's counters -> words.  Built without vector instructions, calls no library. */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "arch.h"
#include "counters.h"
#include "thread.h"

int nsp_step_read(uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        words[i] = nsp_thread.stepped;
    return 1;
}

/* The value, running for as long as it was enabled; 0 where it shared its register with others: then it would be an estimate. */
static int perf_read_one(int fd, uint64_t *value)
{
    uint64_t answer[3]; /* value, time enabled, time running */

    if (nsp_syscall3(SYS_read, fd, (long)answer, sizeof(answer)) != (long)sizeof(answer))
        return 0;
    *value = answer[0];
    return answer[1] == answer[2];
}

int nsp_perf_read(uint64_t *words, uint32_t count)
{
    const struct nsp_perf_thread *thread = nsp_thread.counters;

    for (uint32_t i = 0; i < count; ++i)
        if (!perf_read_one(thread->fd[i], &words[i]))
            return 0;
    return 1;
}

/*
 * The kernel's self-monitoring protocol (linux/perf_event.h, struct
 * perf_event_mmap_page).  index 0 means that the counter has no register right
 * now: rescheduled, or taken away; the system call knows its value then.
 */
static int rdpmc_read_one(volatile struct perf_event_mmap_page *page, int fd, uint64_t *value)
{
    uint32_t sequence, index;
    int whole;

    do {
        sequence = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        index = page->index;
        whole = page->time_enabled == page->time_running;
        *value = (uint64_t)page->offset;
        if (page->cap_user_rdpmc && index) {
            const uint32_t spare_bits = 64u - page->pmc_width;

            *value += (uint64_t)((int64_t)(nsp_rdpmc(index - 1) << spare_bits) >> spare_bits);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (page->lock != sequence);
    if (!index)
        return perf_read_one(fd, value);
    return whole;
}

int nsp_rdpmc_read(uint64_t *words, uint32_t count)
{
    const struct nsp_perf_thread *thread = nsp_thread.counters;

    for (uint32_t i = 0; i < count; ++i)
        if (!rdpmc_read_one(thread->page[i], thread->fd[i], &words[i]))
            return 0;
    return 1;
}
