/* SPDX-License-Identifier: MIT */
/* Ways of a START or STOP through the assembly and C -> what each costs more than the shortest. */
#include <stdlib.h>
#include <string.h>

#include <nslice/ring.h>

#include "arch.h"
#include "counted_block.h"
#include "counters/counters.h"

/*
 * A record that the assembly leaves to C costs more than one that it writes itself.  So that this
 * is in no slice, C subtracts the difference in each counter: `entry` from the record's own counts
 * and all later ones, `exit` from the later ones.  These are constants if the counter depends only
 * on the instructions; of other counters they are typical values.  They are measured as in a
 * session, in a ring of our own, so that they fit the compiler's code.
 */

#define ROUNDS 5 /* the median of which is right if the thread is preempted in two of them */
#define RING_WORDS 64u

/* The ring is used up to its end and is then rewound, so it is not mapped twice. */
struct bench {
    struct nsp_detail_state state;
    union {
        struct nslice_ring_meta ring;
        uint64_t words[NSLICE_RING_META_BYTES / NSLICE_WORD_BYTES + RING_WORDS];
    } memory;
};

/* Counts up to the record's reading, and from there to the end. */
struct parts {
    uint64_t before[NSLICE_MAX_COUNTERS][ROUNDS], after[NSLICE_MAX_COUNTERS][ROUNDS];
};

static void prepare(struct bench *bench, const struct nsp_detail_state *state)
{
    bench->state = *state;
    bench->state.mode = NSP_DETAIL_MODE_COUNTED;
    bench->state.rings = (char *)&bench->memory;
    bench->state.stride_bytes = 0; /* one ring for every CPU: only this thread writes */
    bench->state.cpus = UINT32_MAX;
    bench->state.ring_kind = NSLICE_RING_RSEQ;
    nsp_counted_bind(&bench->state);
    bench->memory.ring.mask = RING_WORDS - 1;
}

/* Makes the assembly give up where the way says; NONE: not at all. */
static void obstruct(struct bench *bench, uint32_t way)
{
    const uint32_t slot = bench->state.counters - 1;

    nsp_counted_bind(&bench->state);
    nsp_counted_refresh(&bench->state);
    if (way == NSP_ATTEMPT_STALE)
        nsp_thread.counted.slot[slot].sum = NSP_COUNTED_NONE;
    else if (way == NSP_ATTEMPT_TORN)
        nsp_thread.counted.lock[slot] ^= 1;
    else if (way == NSP_ATTEMPT_LATE)
        bench->state.counted_sequence = NULL;
}

static void run_once(struct bench *bench, uint32_t way, uint32_t round, struct parts *parts)
{
    static const struct nsp_site site = {
        .name = "", .file = "", .head_bits = NSP_DETAIL_HEAD_BITS(NSLICE_KIND_START, 0)};
    const uint64_t *const record = bench->memory.words + NSLICE_RING_META_BYTES / NSLICE_WORD_BYTES;
    const uint32_t count = bench->state.counters;
    uint64_t begin[NSLICE_MAX_COUNTERS], end[NSLICE_MAX_COUNTERS];

    bench->memory.ring.head = 0;
    bench->memory.ring.limit = RING_WORDS;
    obstruct(bench, way);
    nsp_rdpmc_read(begin, count);
    nsp_call_probe(bench->state.counted, &bench->state, &site);
    nsp_rdpmc_read(end, count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t value = record[NSLICE_HEAD_WORDS + i] + nsp_thread.counter[i].detour;

        parts->before[i][round] = value - begin[i];
        parts->after[i][round] = end[i] - value;
    }
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static uint64_t median(uint64_t *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare);
    return values[ROUNDS / 2];
}

static void measure(struct bench *bench)
{
    static const uint32_t ways[] = {NSP_ATTEMPT_NONE, NSP_ATTEMPT_STALE, NSP_ATTEMPT_TORN,
                                    NSP_ATTEMPT_LATE};
    struct parts parts[sizeof(ways) / sizeof(ways[0])];
    const uint32_t count = bench->state.counters;

    for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); ++way)
        for (uint32_t round = 0; round < ROUNDS; ++round)
            run_once(bench, ways[way], round, &parts[way]);
    for (uint32_t i = 0; i < count; ++i) {
        struct nsp_thread_counter *const counter = &nsp_thread.counter[i];
        const uint64_t before = median(parts[0].before[i]), after = median(parts[0].after[i]);

        for (size_t way = 1; way < sizeof(ways) / sizeof(ways[0]); ++way)
            counter->entry[ways[way]] = median(parts[way].before[i]) - before;
        counter->exit = median(parts[1].after[i]) - after;
    }
}

void nsp_counted_measure_costs(const struct nsp_detail_state *state)
{
    struct bench *const bench = calloc(1, sizeof(*bench));

    nsp_thread.is_refreshing = 0; /* if it was left by a longjmp() out of a handler */
    for (uint32_t i = 0; i < NSLICE_MAX_COUNTERS; ++i) {
        nsp_thread.counter[i].detour = nsp_thread.counter[i].exit = 0;
        memset(nsp_thread.counter[i].entry, 0, sizeof(nsp_thread.counter[i].entry));
    }
    if (bench) {
        prepare(bench, state);
        if (bench->state.counters - 1 < NSLICE_MAX_COUNTERS) /* 0: another session has begun */
            measure(bench);
    }
    nsp_counted_forget();
    free(bench);
}
