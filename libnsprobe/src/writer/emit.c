/* SPDX-License-Identifier: MIT */
/* Cold half of the writer: site + counters -> record -> ring.  No vector code, no library calls. */
#include "emit.h"

#include <signal.h>
#include <sys/syscall.h>

#include "arch.h"
#include "counted_block.h"
#include "counters/counters.h"
#include "thread.h"
#include "thread_begin.h"

NSP_THREAD_LOCAL uint32_t nsp_detail_thread_id;

#define NO_SLOT                                \
    {                                          \
        NSP_COUNTED_NONE, &nsp_counted_no_page \
    }
NSP_THREAD_LOCAL struct nsp_thread nsp_thread = {
    .counted = {.slot = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT}}};

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

static void begin_counters(struct nsp_detail_state *state)
{
    if (nsp_thread.generation == nsp_session_generation)
        return;
    nsp_thread.state = state;
    nsp_thread_begin_counters();
}

/* A record while counters run, over all attempts to write it. */
struct counted {
    struct nsp_detail_state *state;
    const struct nsp_counter_ops *source;
    uint64_t *record;
    uint64_t before[NSLICE_MAX_COUNTERS]; /* values of the previous attempt, minus the detours */
    uint64_t again;                       /* all ones from the second attempt on */
    uint32_t bits;
    uint32_t attempt; /* NSP_ATTEMPT_*: of the assembly before */
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
 * probes intervened, the detour is the handler's work and is kept; its records precede this one,
 * so that its counts must, too.
 */
static __attribute__((noinline)) int try_counted(struct counted *counted)
{
    const uint32_t count = counted->state->counters;
    const uint64_t has_written = nsp_thread.counted.has_written;
    uint64_t words[NSLICE_MAX_COUNTERS], detour;
    uint32_t read, reported;

    if (has_written >= NSP_WRITTEN)
        nsp_thread.counted.has_written = NSP_WRITTEN_SEEN;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    read = counted->source->read(words, count) ? count : 0;
    reported = read & counted->reports;
    detour = counted->again & -(uint64_t)(has_written < NSP_WRITTEN);
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
    return nsp_push_while(
        counted->state, counted->record, NSLICE_HEAD_WORDS + counted->words + reported,
        &nsp_thread.counted.has_written, has_written ? NSP_WRITTEN_SEEN : NSP_NOT_WRITTEN);
}

/*
 * An attempt of the assembly that read its values is like one of our own.  Any other is a longer
 * way to the first reading, by a known number of counts.
 */
static void continue_attempt(struct counted *counted)
{
    const uint32_t count = counted->state->counters;

    if (counted->attempt == NSP_ATTEMPT_ABORTED) {
        for (uint32_t i = 0; i < count; ++i)
            counted->before[i] = nsp_thread.counted.value[i];
        counted->again = ~0ull;
        /* A handler's probe that replaced the values before this has set has_written. */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        return;
    }
    nsp_thread.counted.has_written = NSP_NOT_WRITTEN;
    for (uint32_t i = 0; i < count; ++i)
        nsp_thread.counter[i].detour += nsp_thread.counter[i].entry[counted->attempt];
}

static void end_attempt(const struct counted *counted)
{
    const uint32_t count = counted->state->counters;

    for (uint32_t i = 0; i < count; ++i)
        nsp_thread.counter[i].detour += nsp_thread.counter[i].exit;
    nsp_counted_refresh(counted->state);
}

/* The assembly's copies of the offsets contain the detour, so they are wrong if it changes. */
static void emit_counted(struct counted *counted)
{
    if (counted->attempt)
        continue_attempt(counted);
    else
        nsp_thread.counted.has_written = NSP_NOT_WRITTEN;
    while (!try_counted(counted))
        nsp_counted_forget();
    if (counted->attempt)
        end_attempt(counted);
    nsp_thread.counted.has_written = NSP_WRITTEN;
}

static void emit_plain(struct nsp_detail_state *state, uint64_t *record, uint32_t bits,
                       uint32_t count)
{
    record[1] = (uint64_t)bits << 32 | nsp_detail_thread_id;
    while (!nsp_push(state, record, NSLICE_HEAD_WORDS + count))
        ;
    nsp_thread.counted.has_written = NSP_WRITTEN;
}

static int is_slice_end(uint32_t kind)
{
    return kind == NSLICE_KIND_START || kind == NSLICE_KIND_STOP;
}

int nsp_detail_emit(struct nsp_detail_state *state, const struct nsp_site *site,
                    const uint64_t *words, uint32_t attempt)
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
    if (reports)
        begin_counters(state);
    if (reports && nsp_thread.registers_of == nsp_session_generation)
        counted.attempt = attempt;
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
