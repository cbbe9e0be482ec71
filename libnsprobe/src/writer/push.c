/* SPDX-License-Identifier: MIT */
/* Cold half of the writer: record -> ring, by rseq or compare-and-swap; makes room, counts losses.
 */
#include "emit.h"

#include "arch.h"

/* Distance of a closed ring's limit behind the head: no record is that large. */
#define REFUSE_WORDS 0x40000000u
#define REFUSALS 0x10000u /* with limits of their own */

/*
 * Reads the state once and everything else from the rings themselves: a thread that was
 * preempted here may resume in a later session with rings of another size.
 */
static struct nslice_ring_meta *ring_of(const struct nsp_detail_state *state, uint32_t cpu)
{
    char *rings = __atomic_load_n(&state->rings, __ATOMIC_RELAXED);
    const uint64_t data_bytes = ((const struct nslice_ring_meta *)rings)->data_bytes;

    return (struct nslice_ring_meta *)(rings + cpu * (NSLICE_RING_META_BYTES + 2 * data_bytes));
}

static uint64_t *unit_at(struct nslice_ring_meta *ring, uint64_t position)
{
    uint64_t *data = (uint64_t *)((char *)ring + NSLICE_RING_META_BYTES);

    return data + ((uint32_t)position & ring->mask);
}

static void count_loss(struct nslice_ring_meta *ring, enum nslice_lost cause)
{
    __atomic_fetch_add(&ring->lost[cause], 1, __ATOMIC_RELAXED);
}

/*
 * The limits of different refusals differ, wherever the head is: a writer that has seen a refusal's
 * limit, and the ring open after it, must not replace the limit of a later refusal.  So the low
 * half of a refusing limit is its number.
 */
static void refuse(struct nslice_ring_meta *ring, enum nslice_ring_refusal reason)
{
    const uint32_t head = (uint32_t)__atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    const uint32_t number = __atomic_add_fetch(&ring->refusals, 1, __ATOMIC_RELAXED);
    const uint32_t behind = head - REFUSE_WORDS;

    __atomic_store_n(&ring->closing, reason, __ATOMIC_SEQ_CST);
    __atomic_store_n(&ring->limit, behind - behind % REFUSALS + number % REFUSALS,
                     __ATOMIC_SEQ_CST);
}

void nsp_ring_refuse(struct nslice_ring_meta *ring)
{
    refuse(ring, NSLICE_RING_CLOSING);
}

void nsp_ring_pause(struct nslice_ring_meta *ring)
{
    refuse(ring, NSLICE_RING_PAUSED);
}

/* The limit stays until the next writer makes room. */
void nsp_ring_resume(struct nslice_ring_meta *ring)
{
    uint32_t paused = NSLICE_RING_PAUSED;

    __atomic_compare_exchange_n(&ring->closing, &paused, NSLICE_RING_OPEN, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
}

/*
 * Policy overwrite: walks over the oldest records until an eighth of the ring
 * is free, and claims that span by moving the tail.  The walk may read what
 * another writer is already replacing; in this case the tail has moved, the exchange
 * fails and the walk has no effect.  1: the tail moved (by any writer); 0: the oldest
 * record is still incomplete.
 */
static int drop_oldest(struct nslice_ring_meta *ring, __u64 tail, uint64_t head)
{
    const uint32_t want = (ring->mask + 1) / 8;
    const uint64_t available = head - tail;
    uint64_t step = 0;

    /* The previous span is still being zeroed by its owner. */
    if (ring->kind == NSLICE_RING_ATOMIC &&
        __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) != (uint32_t)tail + ring->mask + 1)
        return 0;

    while (NSLICE_POSITION_WORDS(step) < want &&
           NSLICE_POSITION_WORDS(step) < NSLICE_POSITION_WORDS(available)) {
        uint64_t word = __atomic_load_n(unit_at(ring, tail + step) + 1, __ATOMIC_ACQUIRE);

        if (ring->kind == NSLICE_RING_ATOMIC && NSLICE_RECORD_KIND(word) == 0)
            break;
        step += NSLICE_POSITION_STEP(NSLICE_RECORD_WORDS(word));
    }
    if (step == 0)
        return 0;
    if (!__atomic_compare_exchange_n(&ring->tail, &tail, tail + step, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return 1;
    __atomic_fetch_add(&ring->lost[NSLICE_LOST_OVERWRITTEN], NSLICE_POSITION_RECORDS(step),
                       __ATOMIC_RELAXED);
    if (ring->kind == NSLICE_RING_ATOMIC) {
        uint64_t *unit = unit_at(ring, tail);

        /* The second mapping continues the first, so the span is contiguous. */
        for (uint32_t i = 0; i < NSLICE_POSITION_WORDS(step); ++i)
            __atomic_store_n(unit + i, 0, __ATOMIC_RELAXED);
        /* By exchange: closing may have begun meanwhile, and its refusing limit must stay. */
        uint32_t before = (uint32_t)tail + ring->mask + 1;
        __atomic_compare_exchange_n(&ring->limit, &before, (uint32_t)(tail + step) + ring->mask + 1,
                                    0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
    return 1;
}

int nsp_make_room(struct nslice_ring_meta *ring, uint32_t record_words)
{
    const uint32_t data_words = ring->mask + 1;

    for (;;) {
        /* pairs with the release in the drain: the data before the tail may be overwritten */
        uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
        uint32_t limit = (uint32_t)tail + data_words;
        uint32_t before = __atomic_load_n(&ring->limit, __ATOMIC_SEQ_CST);
        const uint32_t refusal = __atomic_load_n(&ring->closing, __ATOMIC_ACQUIRE);

        if (refusal != NSLICE_RING_OPEN) {
            count_loss(ring,
                       refusal == NSLICE_RING_PAUSED ? NSLICE_LEFT_OUT_PAUSED : NSLICE_LOST_CLOSED);
            return 0;
        }
        if ((int32_t)(limit - ((uint32_t)head + record_words)) >= 0) {
            /* The limit of an atomic ring follows the zeroing, known only to its owner. */
            if (ring->kind == NSLICE_RING_ATOMIC && ring->full == NSLICE_FULL_OVERWRITE &&
                (int32_t)(__atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) -
                          ((uint32_t)head + record_words)) < 0) {
                count_loss(ring, NSLICE_LOST_BUSY);
                return 0;
            }
            /* By exchange: closing may have begun since the check above, and must stay. */
            if (ring->kind != NSLICE_RING_ATOMIC || ring->full != NSLICE_FULL_OVERWRITE)
                __atomic_compare_exchange_n(&ring->limit, &before, limit, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED);
            return 1;
        }
        if (ring->full == NSLICE_FULL_DISCARD) {
            count_loss(ring, NSLICE_LOST_FULL);
            return 0;
        }
        if (!drop_oldest(ring, tail, head)) {
            count_loss(ring, NSLICE_LOST_BUSY);
            return 0;
        }
    }
}

/*
 * Without rseq: reserves space by compare-and-swap, since another CPU's writer may intervene; the
 * kind marks a complete record.
 */
static int push_atomic(struct nsp_detail_state *state, uint64_t *record, uint32_t record_words,
                       uint32_t *cpu)
{
    struct nslice_ring_meta *ring;
    __u64 head; /* as in the ring: clang distinguishes unsigned long and long long */
    uint64_t ticks, *to;

    *cpu = nsp_current_cpu();
    if (*cpu >= state->cpus)
        return NSP_PUSH_NO_RING;
    ring = ring_of(state, *cpu);
    head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    do {
        if ((int32_t)(__atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) -
                      ((uint32_t)head + record_words)) < 0)
            return NSP_PUSH_FULL;
        /*
         * In the loop, after the head is read: other CPUs may write here, and ticks must increase
         * within a ring.
         */
        ticks = nsp_clock_read_late();
    } while (!__atomic_compare_exchange_n(&ring->head, &head,
                                          head + NSLICE_POSITION_STEP(record_words), 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    to = unit_at(ring, head);
    to[0] = ticks;
    for (uint32_t i = NSLICE_HEAD_WORDS; i < record_words; ++i)
        to[i] = record[i];
    /* pairs with the acquire in the drain's walk: a record with a kind is complete */
    __atomic_store_n(&to[1], record[1], __ATOMIC_RELEASE);
    return NSP_PUSH_DONE;
}

/* After a record did not fit: into a `full` ring, or on a CPU without a ring (NULL). */
static int push_again(const struct nsp_detail_state *state, struct nslice_ring_meta *full,
                      uint32_t record_words)
{
    if (full)
        return nsp_make_room(full, record_words);
    /* A thread not created by glibc has no rseq area, hence no CPU to write on. */
    count_loss(ring_of(state, 0), NSLICE_LOST_BUSY);
    return 0;
}

int nsp_push_while(struct nsp_detail_state *state, uint64_t *record, uint32_t record_words,
                   const uint64_t *word, uint64_t value)
{
    uint32_t cpu = 0;
    const int outcome = state->ring_kind == NSLICE_RING_RSEQ
                            ? nsp_detail_push_rseq(state, record, record_words, &cpu, word, value)
                            : push_atomic(state, record, record_words, &cpu);

    if (outcome == NSP_PUSH_DONE)
        return 1;
    if (outcome == NSP_PUSH_ABORTED)
        return 0;
    return !push_again(state, outcome == NSP_PUSH_NO_RING ? NULL : ring_of(state, cpu),
                       record_words);
}

int nsp_push(struct nsp_detail_state *state, uint64_t *record, uint32_t record_words)
{
    static const uint64_t always;

    return nsp_push_while(state, record, record_words, &always, 0);
}
