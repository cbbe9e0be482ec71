/* SPDX-License-Identifier: MIT */
/* Counter reads inside a probe: thread's counters -> words.  No vector instructions, no library. */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "arch.h"
#include "counters/counters.h"
#include "thread.h"

int nsp_step_read(uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        words[i] = nsp_thread.stepped;
    return 1;
}

/*
 * Reads the value.  Returns 0 if the counter has lost its register, or shares it with
 * others: the value would be an estimate.  Also 0 if the descriptor number now belongs
 * to another file.
 */
static int perf_read_one(const struct nsp_perf_counter *counter, uint32_t kind, int is_alone,
                         uint64_t *value)
{
    uint64_t answer[4]; /* value, time enabled, time running, id */

    if (nsp_syscall3(SYS_read, counter->fd[kind], (long)answer, sizeof(answer)) !=
        (long)sizeof(answer))
        return 0;
    *value = answer[0];
    return answer[3] == counter->id[kind] && (!is_alone || answer[1] == answer[2]);
}

/* With several kinds of core, an event legitimately stops while the thread is on another kind. */
static int is_alone(const struct nsp_perf_counter *counter)
{
    return counter->kinds == 1;
}

int nsp_perf_read_of(const struct nsp_perf_thread *thread, uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const struct nsp_perf_counter *counter = &thread->counter[i];

        words[i] = 0;
        for (uint32_t kind = 0; kind < counter->kinds; ++kind) {
            uint64_t value;

            if (!perf_read_one(counter, kind, is_alone(counter), &value))
                return 0;
            words[i] += value;
        }
    }
    return 1;
}

int nsp_perf_read(uint64_t *words, uint32_t count)
{
    return nsp_perf_read_of(nsp_thread.counters, words, count);
}

/*
 * One round of the kernel's self-monitoring protocol (linux/perf_event.h,
 * struct perf_event_mmap_page); sets *torn if the kernel changed the page in between.
 * index 0 means that the counter has no register at the moment: rescheduled, or taken
 * away; the system call then returns its value, and whether it has lost its register.
 */
static int rdpmc_read_one(const struct nsp_perf_counter *counter, uint32_t kind, uint64_t *value,
                          uint32_t *torn)
{
    const volatile struct perf_event_mmap_page *page = counter->page[kind];
    const uint32_t sequence = page->lock;
    uint32_t index;
    int whole;

    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    index = page->index;
    whole = !is_alone(counter) || page->time_enabled == page->time_running;
    *value = (uint64_t)page->offset;
    if (page->cap_user_rdpmc && index) {
        const uint32_t spare_bits = 64u - page->pmc_width;

        *value += (uint64_t)((int64_t)(nsp_read_pmc(index - 1) << spare_bits) >> spare_bits);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *torn |= page->lock ^ sequence;
    if (!index || !page->cap_user_rdpmc)
        return perf_read_one(counter, kind, is_alone(counter), value);
    return whole;
}

static int rdpmc_read_all(const struct nsp_perf_thread *thread, uint64_t *words, uint32_t count,
                          uint32_t *torn)
{
    uint32_t reported = 1;

    *torn = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const struct nsp_perf_counter *counter = &thread->counter[i];

        words[i] = 0;
        for (uint32_t kind = 0; kind < counter->kinds; ++kind) {
            uint64_t value = 0;

            reported &= (uint32_t)rdpmc_read_one(counter, kind, &value, torn);
            words[i] += value;
        }
    }
    return (int)reported;
}

/*
 * A torn round costs as much as any other, but the cost can only be measured between
 * whole rounds: after a torn round, two whole rounds are required, and the difference
 * between them, times the number of superfluous rounds, is subtracted from this reading
 * and all later ones.  Torn and whole rounds take the same path through the loop.
 */
int nsp_rdpmc_read_of(const struct nsp_perf_thread *thread, struct nsp_thread_counter *counter,
                      uint64_t *words, uint32_t count)
{
    uint64_t rounds[2][NSLICE_MAX_COUNTERS] = {{0}};
    uint32_t made = 0, in_a_row = 0, wanted = 1, torn;
    int reported;

    do {
        reported = rdpmc_read_all(thread, rounds[made & 1], count, &torn);
        ++made;
        in_a_row = (in_a_row + 1) & -(uint32_t)(torn == 0);
        wanted += (uint32_t)(torn != 0) & (2 - wanted);
    } while (in_a_row < wanted);
    for (uint32_t i = 0; i < count; ++i) {
        words[i] = rounds[(made - 1) & 1][i];
        counter[i].detour += (words[i] - rounds[made & 1][i]) * (made - 1);
    }
    return reported;
}

int nsp_rdpmc_read(uint64_t *words, uint32_t count)
{
    return nsp_rdpmc_read_of(nsp_thread.counters, nsp_thread.counter, words, count);
}
