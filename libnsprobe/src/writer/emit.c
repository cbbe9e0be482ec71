/* SPDX-License-Identifier: MIT */
/* Cold half of the writer: site + counters -> record -> ring.  No vector code, no library calls. */
#include "emit.h"

#include <signal.h>
#include <sys/syscall.h>

#include "arch.h"
#include "counters/counters.h"
#include "thread.h"
#include "thread_begin.h"

NSP_THREAD_LOCAL uint32_t nsp_detail_thread_id;
NSP_THREAD_LOCAL struct nsp_thread nsp_thread;

static uint32_t site_kind(const struct nsp_site *site)
{
    return site->head_bits >> 16 & 0xff;
}

/* A trap while SIGTRAP is blocked ends the process; blocking all signals is common. */
static void unblock_trap(void)
{
    const uint64_t set = 1ull << (SIGTRAP - 1);

    nsp_syscall4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, sizeof(set));
}

/*
 * Hash of a name.  Pointers cannot be compared: several sites share a name, and the object of one
 * may be unloaded.
 */
static uint16_t name_hash(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *name; ++name)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (uint16_t)(hash ^ hash >> 16);
}

static void step_open(const struct nsp_site *site)
{
    if (nsp_thread.step_depth < NSP_STEP_NAMES)
        nsp_thread.step_names[nsp_thread.step_depth] = name_hash(site->name);
    ++nsp_thread.step_depth;
    unblock_trap();
}

/*
 * Ends the slice of this name and those inside it whose STOP is missing (an early return).  0: no
 * slice of this name is open while stepping; open slices continue in spite of this STOP.
 */
static int step_close(const struct nsp_site *site)
{
    uint32_t place = nsp_thread.step_depth;
    uint16_t name;

    if (place > NSP_STEP_NAMES || nsp_step_calibrating) { /* calibration uses a single name */
        --nsp_thread.step_depth;
        return 1;
    }
    name = name_hash(site->name);
    while (place > 0 && nsp_thread.step_names[place - 1] != name)
        --place;
    if (place == 0)
        return 0;
    nsp_thread.step_depth = place - 1;
    return 1;
}

/*
 * Tracks the thread's slices for the step source.  1: this probe carries counts.
 * A slice that is open when an uncounted unit follows has a gap: the source no longer
 * regards it as open, so its STOP has no counts.
 */
static int step_account(const struct nsp_site *site)
{
    switch (site_kind(site)) {
    case NSLICE_KIND_START:
        if (nsp_thread.step_skip)
            return 0;
        step_open(site);
        return 1;
    case NSLICE_KIND_STOP: return step_close(site);
    case NSLICE_KIND_EXIT:
        if (nsp_step_keep_skip)
            return 0;
        nsp_thread.step_skip = ++nsp_thread.units_seen % nsp_step_every != 0;
        if (nsp_thread.step_skip)
            nsp_thread.step_depth = 0;
        return 0;
    default: return 0;
    }
}

/* Returns 1 if the counters were started in this probe. */
static int begin_counters(void)
{
    if (nsp_thread.generation == nsp_session_generation)
        return 0;
    nsp_thread_begin_counters();
    return 1;
}

/* A record while counters run, over all attempts to write it. */
struct counted {
    struct nsp_detail_state *state;
    const struct nsp_counter_ops *source;
    uint64_t *record;
    uint64_t before[NSLICE_MAX_COUNTERS]; /* values of the previous attempt, minus the detours */
    uint64_t again;                       /* all ones from the second attempt on */
    uint32_t bits, serial;
    uint32_t words;   /* the probe's own: MARK, INIT */
    uint32_t reports; /* all ones: START, STOP, whose words are the counts */
};

/*
 * Every attempt reads the counters again, even for a record without counts: the cost of
 * an aborted attempt is the difference between two readings, and is subtracted from all
 * later ones.  The record thus has the value of the first reading, and the surrounding
 * slice does not include the detour.  The path after a reading must be as long in the first
 * attempt as in later ones: hence no branch on this, and a separate function.  If the
 * attempts were a loop body, compilers would enter it in the middle, through instructions
 * (an alignment nop) that later attempts do not execute.  If a signal handler with its own
 * probes intervened, the detour is the handler's work and is kept.
 */
static __attribute__((noinline)) int try_counted(struct counted *counted)
{
    const uint32_t count = counted->state->counters;
    uint64_t words[NSLICE_MAX_COUNTERS];
    const uint32_t read = counted->source->read(words, count) ? count : 0,
                   reported = read & counted->reports;
    const uint64_t detour = counted->again & -(uint64_t)(nsp_thread.serial == counted->serial);

    counted->again = ~0ull;
    for (uint32_t i = 0; i < read; ++i) {
        nsp_thread.counter[i].detour +=
            (words[i] - nsp_thread.counter[i].detour - counted->before[i]) & detour;
        counted->before[i] = words[i] - nsp_thread.counter[i].detour;
    }
    for (uint32_t i = 0; i < reported; ++i)
        counted->record[NSLICE_HEAD_WORDS + i] = counted->before[i];
    counted->record[1] =
        (uint64_t)(counted->bits | NSP_DETAIL_HEAD_BITS(0, reported)) << 32 | nsp_detail_thread_id;
    return nsp_push(counted->state, counted->record, NSLICE_HEAD_WORDS + counted->words + reported);
}

static void emit_counted(struct counted *counted)
{
    counted->serial = nsp_thread.serial;
    while (!try_counted(counted))
        ;
    ++nsp_thread.serial;
}

static void emit_plain(struct nsp_detail_state *state, uint64_t *record, uint32_t bits,
                       uint32_t count)
{
    record[1] = (uint64_t)bits << 32 | nsp_detail_thread_id;
    while (!nsp_push(state, record, NSLICE_HEAD_WORDS + count))
        ;
    ++nsp_thread.serial;
}

static int is_slice_end(uint32_t kind)
{
    return kind == NSLICE_KIND_START || kind == NSLICE_KIND_STOP;
}

int nsp_detail_emit(struct nsp_detail_state *state, const struct nsp_site *site,
                    const uint64_t *words)
{
    const int stepping = state->mode == NSP_DETAIL_MODE_STEP;
    const uint32_t kind = site_kind(site), count = site->head_bits >> 24;
    uint64_t record[NSLICE_MAX_RECORD_WORDS];
    struct counted counted = {
        .state = state, .record = record, .bits = site->head_bits, .words = count};
    int reports = is_slice_end(kind), measures;

    if (nsp_detail_thread_id == 0)
        nsp_detail_thread_id = (uint32_t)nsp_syscall3(SYS_gettid, 0, 0, 0);
    for (uint32_t i = 0; i < count; ++i)
        record[NSLICE_HEAD_WORDS + i] = words[i];
    if (stepping)
        reports &= step_account(site);
    /* Read once: another thread may open or close a session meanwhile. */
    counted.source = __atomic_load_n(&nsp_active_source, __ATOMIC_RELAXED);
    reports &= state->counters > 0 && counted.source;
    /* The path after a reading must be the same in a thread's first record as in later ones. */
    if (reports && begin_counters() && state->mode == NSP_DETAIL_MODE_COUNTED &&
        nsp_thread.registers_of == nsp_session_generation)
        return NSP_EMIT_COUNTED;
    /* Before a thread's first START there is no slice to correct. */
    measures = !stepping && state->counters > 0 && counted.source &&
               nsp_thread.generation == nsp_session_generation;
    counted.reports = -(uint32_t)reports;
    if ((reports || measures) && !nsp_thread.counters_failed)
        emit_counted(&counted);
    else
        emit_plain(state, record, site->head_bits, count);
    return stepping && nsp_thread.step_depth > 0 ? NSP_EMIT_STEP : NSP_EMIT_DONE;
}
