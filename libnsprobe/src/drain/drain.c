/* SPDX-License-Identifier: MIT */
/* Drain: rings -> RECORDS chunks; announcements -> their chunks; losses and totals -> footer. */
#define _GNU_SOURCE
#include "drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/file_error/file_error.h"
#include "ring_read.h"
#include "session/announce.h"
#include "session/error.h"
#include "writer/clock_pair.h"

/* How long the last pass waits for a writer that has reserved space but not finished. */
#define TORN_WAIT_NS 100000000ull
/* How long records wait for an incomplete announcement; its writer may have been killed. */
#define AWAITED_NS 50000000ull

static void release(struct nsp_drain *drain)
{
    nsp_kernel_drain_close(&drain->kernel);
    free(drain->cpus);
    free(drain->copy);
    drain->cpus = NULL;
    drain->copy = NULL;
}

int nsp_drain_open(struct nsp_drain *drain, const struct nsp_shm_map *map, const char *path,
                   int given)
{
    int err;

    memset(drain, 0, sizeof(*drain));
    drain->file.fd = -1;
    drain->kernel.fd = -1;
    drain->map = map;
    drain->pauses.opened_ns = nsp_monotonic_raw_ns();
    drain->cpus = calloc(map->cpus, sizeof(*drain->cpus));
    drain->copy = malloc(NSLICE_MAX_PAYLOAD_BYTES);
    if (!drain->cpus || !drain->copy) {
        release(drain);
        return nsp_fail(-ENOMEM, "out of memory");
    }
    err = given >= 0 ? nsp_file_take(&drain->file, given, path) : nsp_file_open(&drain->file, path);
    if (err)
        release(drain);
    return err;
}

static void drain_announcements(struct nsp_drain *drain)
{
    const void *payload;
    uint32_t bytes;
    uint16_t kind;

    while (nsp_announce_next(drain->map, &drain->announce_cursor, &kind, &payload, &bytes)) {
        const struct nslice_file_calibration *calibration = payload;
        const uint64_t offset = drain->file.bytes;

        if (kind != NSLICE_CHUNK_INFO && kind != NSLICE_CHUNK_SITES &&
            kind != NSLICE_CHUNK_CALIBRATION && kind != NSLICE_CHUNK_EPOCHS)
            continue;
        if (kind == NSLICE_CHUNK_INFO)
            nsp_kernel_drain_follow(&drain->kernel, payload, bytes);
        if (nsp_file_small_chunk(&drain->file, kind, payload, bytes) == 0 &&
            kind == NSLICE_CHUNK_CALIBRATION && bytes >= sizeof(*calibration) &&
            calibration->phase == NSLICE_CALIBRATION_END)
            drain->end_calibration_offset = offset;
    }
}

/* Whether an announcement up to `tail` is incomplete but may be completed: waits once for each. */
static int announcements_are_awaited(struct nsp_drain *drain, uint64_t tail)
{
    const uint64_t now_ns = nsp_monotonic_raw_ns();

    if (drain->announce_cursor >= tail || tail > NSLICE_SESSION_ANNOUNCE_BYTES)
        return 0;
    if (!drain->awaited_until_ns || drain->awaited_cursor != drain->announce_cursor) {
        drain->awaited_cursor = drain->announce_cursor;
        drain->awaited_until_ns = now_ns + AWAITED_NS;
    }
    return now_ns < drain->awaited_until_ns;
}

/* Number of records that the ring's writers could not write. */
static uint64_t refused_records(const struct nslice_ring_meta *ring)
{
    uint64_t lost = 0;

    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        if (cause != NSLICE_LOST_OVERWRITTEN)
            lost += __atomic_load_n(&ring->lost[cause], __ATOMIC_RELAXED);
    return lost;
}

/*
 * Records overwritten before the position: those that were committed and are not accounted for
 * elsewhere.  Writers count them too, but only after they have moved the tail, and may be preempted
 * in between.
 */
static uint64_t overwritten_before(const struct nsp_drain_cpu *own, uint64_t position)
{
    const uint64_t committed = own->committed - NSLICE_POSITION_RECORDS(own->head - position);

    return committed - own->drained - own->lost_write - own->lost_torn;
}

static void write_records(struct nsp_drain *drain, uint32_t cpu, const void *payload,
                          struct nslice_span span)
{
    struct nsp_drain_cpu *own = &drain->cpus[cpu];
    struct nslice_chunk_header header = {
        .kind = NSLICE_CHUNK_RECORDS,
        .sequence = own->chunks,
        .cpu = cpu,
        .records = span.records,
        .lost_before = own->gaps.passed + overwritten_before(own, own->tail) + own->lost_write +
                       own->lost_torn,
        .left_out_before = own->left_out.passed,
    };

    const uint64_t offset = drain->file.bytes;

    memcpy(&header.first_ticks, payload, sizeof(header.first_ticks));
    if (nsp_file_chunk(&drain->file, &header, payload, (size_t)span.words * NSLICE_WORD_BYTES)) {
        own->lost_write += span.records;
        return;
    }
    ++own->chunks;
    own->drained += span.records;
    drain->last.cpu = cpu;
    drain->last.records = span.records;
    drain->last.offset = offset;
}

/*
 * With policy overwrite, records are copied first and count only if no writer overwrote them
 * meanwhile; otherwise they are written directly from the ring.  *head: its value just before the
 * room was freed.  1: the span was taken from the ring.
 */
static int take(struct nsp_drain *drain, uint32_t cpu, uint64_t tail, struct nslice_span span,
                uint64_t *head)
{
    struct nslice_ring_meta *ring = nsp_shm_ring(drain->map, cpu);
    const void *data = nsp_ring_data(ring, drain->map->ring_bytes, tail);

    if (drain->map->shm->full != NSLICE_FULL_OVERWRITE) {
        write_records(drain, cpu, data, span);
        *head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
        return nsp_ring_consume(ring, drain->map->ring_bytes, tail, span);
    }
    memcpy(drain->copy, data, (size_t)span.words * NSLICE_WORD_BYTES);
    *head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    if (!nsp_ring_consume(ring, drain->map->ring_bytes, tail, span))
        return 0;
    write_records(drain, cpu, drain->copy, span);
    return 1;
}

/* Drains one chunk from a ring up to `head`; 0 if there is none. */
static uint64_t drain_chunk(struct nsp_drain *drain, uint32_t cpu, uint64_t head)
{
    struct nslice_ring_meta *ring = nsp_shm_ring(drain->map, cpu);
    struct nsp_drain_cpu *own = &drain->cpus[cpu];
    uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE), head_before;
    struct nslice_span span;

    own->tail = tail;
    if (NSLICE_POSITION_WORDS(head - tail) == 0 ||
        NSLICE_POSITION_WORDS(head - tail) > drain->map->ring_bytes / NSLICE_WORD_BYTES)
        return 0;
    head = nslice_gaps_limit(&own->gaps, tail, head);
    head = nslice_gaps_limit(&own->left_out, tail, head);
    span = nsp_ring_span(ring, drain->map->ring_bytes, tail, head, NSLICE_MAX_PAYLOAD_BYTES);
    if (span.words == 0)
        return 0;
    if (!take(drain, cpu, tail, span, &head_before))
        return ring->kind == NSLICE_RING_RSEQ; /* a writer dropped these: try again */
    nslice_gaps_note(&own->gaps, refused_records(ring), head_before);
    nslice_gaps_note(&own->left_out, drain->pauses.left_out, head_before);
    return (uint64_t)span.words * NSLICE_WORD_BYTES;
}

static uint64_t read_head(struct nsp_drain *drain, uint32_t cpu)
{
    struct nsp_drain_cpu *own = &drain->cpus[cpu];
    /*
     * pairs with the commit in the probe: what precedes the head is complete (rseq) or shows it by
     * its kind (atomic)
     */
    uint64_t head = __atomic_load_n(&nsp_shm_ring(drain->map, cpu)->head, __ATOMIC_ACQUIRE);

    own->committed += NSLICE_POSITION_RECORDS(head - own->head);
    own->head = head;
    return head;
}

void nsp_drain_watch(struct nsp_drain *drain)
{
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu)
        read_head(drain, cpu);
}

/* Pairs with the release in a joining process, which wrote before what the drain must know. */
static int has_joined(const struct nsp_drain *drain)
{
    return __atomic_load_n(&drain->map->shm->joined, __ATOMIC_ACQUIRE) > 0;
}

int nsp_drain_begin(struct nsp_drain *drain)
{
    if (!has_joined(drain) && drain->kernel.fd < 0)
        return 0;
    if (!drain->file.has_begun && !drain->file.error)
        nsp_file_begin(&drain->file);
    return 1;
}

int nsp_drain_head(struct nsp_drain *drain)
{
    if (nsp_drain_begin(drain))
        drain_announcements(drain);
    return -drain->file.error;
}

uint64_t nsp_drain_pass(struct nsp_drain *drain)
{
    const uint32_t cpus = drain->map->cpus;
    uint64_t fullest = 0, announced;

    if (!nsp_drain_begin(drain))
        return 0;
    if (drain->kernel.fd >= 0)
        fullest = nsp_kernel_drain_pass(&drain->kernel, &drain->file, &drain->last_kernel);
    nsp_drain_watch(drain);
    nsp_drain_sum_left_out(drain);
    /* after the heads: what records up to there require was reserved before their commit */
    announced = __atomic_load_n(&drain->map->shm->announce_tail, __ATOMIC_RELAXED);
    drain_announcements(drain);
    drain->is_waiting = announcements_are_awaited(drain, announced);
    for (uint32_t cpu = 0; cpu < cpus && !drain->is_waiting; ++cpu) {
        const uint64_t head = drain->cpus[cpu].head;
        uint64_t taken = 0, bytes;

        while ((bytes = drain_chunk(drain, cpu, head)) > 0)
            taken += bytes;
        if (taken > fullest)
            fullest = taken;
    }
    return fullest;
}

/*
 * Atomic rings: waits briefly for writers, then counts incomplete records and everything after them
 * as torn.
 */
static void settle(struct nsp_drain *drain)
{
    const uint64_t give_up_ns = nsp_monotonic_raw_ns() + TORN_WAIT_NS;
    const struct timespec pause = {0, 1000000};
    uint64_t pending;

    do {
        nsp_drain_pass(drain);
        pending = 0;
        for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu) {
            struct nslice_ring_meta *ring = nsp_shm_ring(drain->map, cpu);

            pending += NSLICE_POSITION_RECORDS(drain->cpus[cpu].head - ring->tail);
        }
        if (pending)
            nanosleep(&pause, NULL);
    } while (pending && nsp_monotonic_raw_ns() < give_up_ns);
    for (uint32_t cpu = 0; cpu < drain->map->cpus && pending; ++cpu) {
        struct nslice_ring_meta *ring = nsp_shm_ring(drain->map, cpu);

        drain->cpus[cpu].lost_torn += NSLICE_POSITION_RECORDS(drain->cpus[cpu].head - ring->tail);
        ring->tail = drain->cpus[cpu].head;
    }
}

/* From here on, rings do not change and positions are exact, whatever preempted writers count. */
static void settle_overwritten(struct nsp_drain *drain)
{
    for (uint32_t cpu = 0; cpu < drain->map->cpus && drain->map->shm->full == NSLICE_FULL_OVERWRITE;
         ++cpu)
        drain->cpus[cpu].lost_overwritten =
            overwritten_before(&drain->cpus[cpu], drain->cpus[cpu].head);
    drain->is_settled = 1;
}

void nsp_drain_write_total(struct nsp_drain *drain, const char *key, uint64_t total)
{
    char text[64];

    snprintf(text, sizeof(text), "session.%s=%llu\n", key, (unsigned long long)total);
    nsp_file_small_chunk(&drain->file, NSLICE_CHUNK_INFO, text, (uint32_t)strlen(text));
}

static void settle_announcements(struct nsp_drain *drain)
{
    uint64_t dropped = __atomic_load_n(&drain->map->shm->dropped_announcements, __ATOMIC_RELAXED);

    while (nsp_announce_skip(drain->map, &drain->announce_cursor)) {
        ++dropped;
        drain_announcements(drain);
    }
    if (dropped > 0)
        nsp_drain_write_total(drain, "dropped_announcements", dropped);
    nsp_drain_write_pauses(drain);
    if (drain->map->shm->thin_permille > 0) /* the footer has no place for their number */
        nsp_drain_write_total(drain, "epoch_chunks", drain->file.sequence[NSLICE_CHUNK_EPOCHS]);
}

static void fill_row(const struct nsp_drain *drain, uint32_t cpu,
                     struct nslice_file_footer_cpu *row)
{
    const struct nslice_ring_meta *ring = nsp_shm_ring(drain->map, cpu);
    const struct nsp_drain_cpu *own = &drain->cpus[cpu];

    memset(row, 0, sizeof(*row));
    row->cpu = cpu;
    row->chunks = own->chunks;
    row->drained = own->drained;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        row->lost[cause] = __atomic_load_n(&ring->lost[cause], __ATOMIC_RELAXED);
    row->lost[NSLICE_LOST_WRITE] += own->lost_write;
    row->lost[NSLICE_LOST_TORN] += own->lost_torn;
    if (drain->is_settled)
        row->lost[NSLICE_LOST_OVERWRITTEN] = own->lost_overwritten;
    row->issued = own->committed + row->lost[NSLICE_LOST_FULL] + row->lost[NSLICE_LOST_BUSY] +
                  row->lost[NSLICE_LOST_CLOSED];
}

static void add_row(struct nsp_session_counts *counts, const struct nslice_file_footer_cpu *row)
{
    counts->issued += row->issued;
    counts->drained += row->drained;
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        counts->lost[cause] += row->lost[cause];
}

void nsp_drain_counts(const struct nsp_drain *drain, struct nsp_session_counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    for (uint32_t cpu = 0; cpu < drain->map->cpus; ++cpu) {
        struct nslice_file_footer_cpu row;

        fill_row(drain, cpu, &row);
        add_row(counts, &row);
    }
    counts->file_bytes = drain->file.bytes;
}

/* counts: as in the footer; preempted writers may still add to a ring's losses afterwards. */
static int write_footer(struct nsp_drain *drain, enum nslice_end end,
                        struct nsp_session_counts *counts)
{
    const uint32_t cpus = drain->map->cpus;
    const size_t bytes =
        sizeof(struct nslice_file_footer) + cpus * sizeof(struct nslice_file_footer_cpu);
    struct nslice_file_footer *footer = calloc(1, bytes);
    struct nslice_file_footer_cpu *rows = (struct nslice_file_footer_cpu *)(footer + 1);
    const struct nsp_clock_pair now = nsp_clock_pair();
    int err;

    if (!footer)
        return nsp_fail(-ENOMEM, "out of memory for the footer");
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
        fill_row(drain, cpu, &rows[footer->cpus]);
        add_row(counts, &rows[footer->cpus]);
        footer->cpus += rows[footer->cpus].issued > 0;
    }
    footer->end = end;
    footer->ticks = now.ticks;
    footer->mono_ns = now.mono_ns;
    footer->end_calibration_offset = drain->end_calibration_offset;
    footer->dropped_sites = drain->map->shm->dropped_sites;
    nsp_file_tell_chunks(&drain->file, footer);
    err = nsp_file_small_chunk(&drain->file, NSLICE_CHUNK_FOOTER, footer,
                               (uint32_t)(sizeof(*footer) + footer->cpus * sizeof(*rows)));
    free(footer);
    return err;
}

/* The kernel's totals, then the footer: neither is useful without the other. */
static int write_ends(struct nsp_drain *drain, enum nslice_end end,
                      struct nsp_session_counts *counts)
{
    const int err = nsp_kernel_drain_totals(&drain->kernel, &drain->file);

    return err ? err : write_footer(drain, end, counts);
}

/* Removes the last records from the file again.  0: there were none, or they went to a pipe. */
static int take_back_records(struct nsp_drain *drain)
{
    struct nsp_drain_cpu *own = &drain->cpus[drain->last.cpu];
    const int is_kernel =
        drain->last_kernel.records > 0 && drain->last_kernel.offset > drain->last.offset;
    const uint64_t offset = is_kernel ? drain->last_kernel.offset : drain->last.offset;

    if ((is_kernel ? drain->last_kernel.records : drain->last.records) == 0 ||
        nsp_file_cut(&drain->file, offset))
        return 0;
    if (is_kernel) {
        nsp_kernel_drain_take_back(&drain->kernel, &drain->last_kernel);
    } else {
        own->drained -= drain->last.records;
        own->lost_write += drain->last.records;
        --own->chunks;
    }
    if (drain->end_calibration_offset >= offset)
        drain->end_calibration_offset = 0;
    return 1;
}

/* On a full disk, the last records make room for the footer, which counts the lost records. */
static int write_footer_making_room(struct nsp_drain *drain, enum nslice_end end,
                                    struct nsp_session_counts *counts)
{
    struct nsp_session_counts first = {0};
    int err = write_ends(drain, end, &first);

    if (err && take_back_records(drain)) {
        memset(&first, 0, sizeof(first));
        err = write_ends(drain, end, &first);
    }
    *counts = first;
    return err;
}

void nsp_drain_abandon(struct nsp_drain *drain)
{
    nsp_file_abandon(&drain->file);
    release(drain);
}

int nsp_drain_finish(struct nsp_drain *drain, enum nslice_end end,
                     struct nsp_session_counts *counts)
{
    struct nsp_session_counts reported = {0};
    int first_error, kernel_err, err;
    const int has_begun = drain->file.has_begun || drain->file.error || has_joined(drain);

    /*
     * Without a process, only a pass begins the file: a close before the first pass means that
     * recording failed.
     */
    if (!has_begun || !nsp_drain_begin(drain)) {
        nsp_drain_abandon(drain);
        return nsp_fail(-ENODATA, "%s: nothing was written: no process took part",
                        drain->file.path);
    }
    kernel_err = nsp_kernel_drain_end(&drain->kernel, &drain->file, &drain->last_kernel);
    settle(drain);
    settle_overwritten(drain);
    settle_announcements(drain);
    first_error = -drain->file.error;
    if (drain->file.bytes == 0) { /* not even the header */
        nsp_drain_counts(drain, counts ? counts : &reported);
        nsp_drain_abandon(drain);
        return nsp_fail(first_error, "%s: cannot write, all records are counted as lost: %s",
                        drain->file.path, nslice_write_error(-first_error));
    }
    if (first_error != -EPIPE) /* a footer may still fit on a disk; a pipe has no reader */
        nsp_file_forget_error(&drain->file);
    err = write_footer_making_room(drain, first_error ? NSLICE_END_WRITE_ERROR : end, &reported);
    if (first_error)
        err = nsp_fail(first_error,
                       "%s: cannot write; the trace is complete up to that point, later records "
                       "are counted as lost: %s",
                       drain->file.path, nslice_write_error(-first_error));
    if (!err)
        err = nsp_file_find(&drain->file);
    if (!err)
        err = kernel_err;
    if (nsp_file_close(&drain->file) && !err)
        err = -EIO;
    reported.file_bytes = drain->file.bytes;
    if (counts)
        *counts = reported;
    release(drain);
    return err;
}
