/* SPDX-License-Identifier: MIT */
/* C part of the trampolines: number of a function -> record, and its return address replaced. */
#include "inside.h"

#include <signal.h>
#include <sys/syscall.h>

#include <nsprobe/detail/arch.h>
#include <nsprobe/detail/state.h>

#include "writer/arch.h"

uint64_t nsf_skipped[NSF_SKIPPED];
struct nsp_slice **nsf_slices;

__thread struct nsf_thread nsf_this_thread;
__thread struct nsf_thread nsf_calibrating;

struct nsf_entry nsf_entries[NSF_ENTRIES];
struct nsf_entry nsf_calibration_entries[NSF_BLOCK_ENTRIES];

static uint64_t slot_of(const struct nsf_entry *entry, const struct nsf_entry *entries,
                        const char *slots)
{
    return (uint64_t)slots + (uint64_t)(entry - entries) * NSF_SLOT_BYTES;
}

static int is_on_stack(const struct nsf_thread *thread, const uint64_t *place)
{
    return (uint64_t)place - thread->low < thread->bytes;
}

/* The top function was left without a return: its slice ends where that is noticed. */
static void drop_top(struct nsf_thread *thread)
{
    struct nsf_entry *const top = thread->top;

    NSP_DETAIL_PROBE_AT("nsp_detail_state", &top->slice->stop);
    top->where = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->top = top - 1;
}

/*
 * Drops functions that were left by longjmp(), or with an alternate signal stack.  A return address
 * that still is in its place may be used yet: of a function that called this one as its last act,
 * or, on a signal stack inside of a frame, of those below it.
 */
static void drop_left_behind(struct nsf_thread *thread, const uint64_t *where,
                             const struct nsf_entry *entries, const char *slots)
{
    while (thread->top->where <= where || thread->top->where > thread->free) {
        if (is_on_stack(thread, thread->top->where) &&
            *thread->top->where == slot_of(thread->top, entries, slots))
            break;
        drop_top(thread);
    }
}

static __attribute__((noinline)) void drop_above(struct nsf_thread *thread,
                                                 const struct nsf_entry *entry)
{
    while (thread->top > entry)
        drop_top(thread);
}

void nsf_unwound(uint32_t number)
{
    struct nsf_thread *const thread = &nsf_this_thread;
    const struct nsf_entry *const entry = &nsf_entries[number];
    const uint64_t *const where = entry->where;

    if (thread->bytes == 0 || entry > thread->top ||
        entry <= thread->limit - (NSF_BLOCK_ENTRIES - 1))
        return;
    drop_above(thread, entry);
    while (thread->top->where == where && where != thread->free) /* and those that called it last */
        drop_top(thread);
}

static int skip(enum nsf_skipped cause)
{
    __atomic_fetch_add(&nsf_skipped[cause], 1, __ATOMIC_RELAXED);
    return 0;
}

/* By a bare system call: the C library's function may change vector registers. */
static int is_on_signal_stack(void)
{
    stack_t stack = {.ss_flags = 0};

    return nsp_syscall3(SYS_sigaltstack, 0, (long)&stack, 0) == 0 && stack.ss_flags & SS_ONSTACK;
}

static void prepare(struct nsf_thread *thread, int is_calibration)
{
    thread->is_busy = 1;
    nsp_detail_call_saving_vectors(is_calibration ? nsf_prepare_calibration : nsf_prepare_thread);
    thread->is_busy = 0;
}

/*
 * Whether a call may use the thread's next entry, where the fast path cannot tell: first call of a
 * thread, another stack, entries left behind, no entry left.
 */
static __attribute__((noinline)) int may_enter(struct nsf_thread *thread, const uint64_t *where,
                                               int is_calibration)
{
    if (thread->is_busy)
        return skip(NSF_IN_LIBRARY);
    if (thread->bytes == 0)
        prepare(thread, is_calibration);
    if (thread->bytes == 0)
        return skip(NSF_NO_BLOCK);
    if (is_on_stack(thread, where) && is_calibration)
        drop_left_behind(thread, where, nsf_calibration_entries, nsf_calibration_slots);
    else if (is_on_stack(thread, where))
        drop_left_behind(thread, where, nsf_entries, nsf_slots);
    else if (!is_on_signal_stack())
        return skip(NSF_FOREIGN_STACK);
    return thread->top < thread->limit ? 1 : skip(NSF_TOO_DEEP);
}

/* The same for a function with sleds, which is recorded in any case. */
static __attribute__((noinline)) int may_track(struct nsf_thread *thread, const uint64_t *where,
                                               int is_calibration)
{
    if (thread->bytes == 0 && !thread->is_busy)
        prepare(thread, is_calibration);
    if (!is_on_stack(thread, where))
        return 0;
    if (is_calibration)
        drop_left_behind(thread, where, nsf_calibration_entries, nsf_calibration_slots);
    else
        drop_left_behind(thread, where, nsf_entries, nsf_slots);
    return thread->top < thread->limit;
}

/*
 * A handler of a signal may call functions with trampolines between any two instructions: it uses
 * the entries above `top`, which are free again when it ends.  The entry is therefore taken before
 * it is filled, and a free entry looks like one in use.
 */
static inline __attribute__((always_inline)) int
enter(struct nsf_thread *thread, const struct nsp_slice *slice, uint64_t *where,
      const struct nsf_entry *entries, const char *slots)
{
    struct nsf_entry *top;

    if (slice->start.mode == NSP_DETAIL_MODE_OFF)
        return 0;
    top = thread->top;
    if (!is_on_stack(thread, where) || top == thread->limit || top->where <= where ||
        top->where > thread->free) {
        if (!may_enter(thread, where, entries == nsf_calibration_entries))
            return 0;
        top = thread->top;
    }
    ++top;
    thread->top = top;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    top->slice = slice;
    top->return_address = *where;
    top->caller = top[-1].where == where ? top[-1].caller : *where - 1; /* a tail call, or not */
    top->where = where;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *where = slot_of(top, entries, slots);
    return 1;
}

/*
 * A function with sleds has an entry, too, so that it is noticed if it is left otherwise than by
 * its exits; its return address stays as it is.  On other stacks it has none.
 */
static inline __attribute__((always_inline)) void begin_sled(struct nsf_thread *thread,
                                                             const struct nsp_slice *slice,
                                                             uint64_t *where, int is_calibration)
{
    struct nsf_entry *top = thread->top;

    if (slice->start.mode == NSP_DETAIL_MODE_OFF)
        return;
    if (!is_on_stack(thread, where) || top == thread->limit || top->where <= where ||
        top->where > thread->free) {
        if (!may_track(thread, where, is_calibration))
            return;
        top = thread->top;
    }
    ++top;
    thread->top = top;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    top->slice = slice;
    top->where = where;
}

/* Functions inside of the one that ends were left without a return. */
static inline int is_left_above(const struct nsf_thread *thread, const uint64_t *where)
{
    return is_on_stack(thread, where) && thread->top->where < where;
}

static __attribute__((noinline)) void drop_below(struct nsf_thread *thread, const uint64_t *where)
{
    while (thread->top->where < where)
        drop_top(thread);
}

static inline __attribute__((always_inline)) void end_sled(struct nsf_thread *thread,
                                                           const uint64_t *where)
{
    struct nsf_entry *const top = thread->top;

    if (top && top->where == where) {
        top->where = thread->free;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread->top = top - 1;
    }
}

static inline __attribute__((always_inline)) void leave(struct nsf_thread *thread,
                                                        struct nsf_entry *entry)
{
    entry->where = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->top = entry - 1;
}

/* The same instructions for the session and, on other rings, for calibration. */
#define TRAMPOLINE_PARTS(suffix, state, slices, thread, entries, slots) \
    void nsf_start##suffix(uint32_t number, uint64_t *where);           \
    void nsf_start##suffix(uint32_t number, uint64_t *where)            \
    {                                                                   \
        const struct nsp_slice *const slice = (slices)[number];         \
                                                                        \
        begin_sled(&(thread), slice, where, sizeof(#suffix) > 1);       \
        NSP_DETAIL_PROBE_AT(state, &slice->start);                      \
    }                                                                   \
                                                                        \
    void nsf_stop##suffix(uint32_t number, const uint64_t *where);      \
    void nsf_stop##suffix(uint32_t number, const uint64_t *where)       \
    {                                                                   \
        if (is_left_above(&(thread), where))                            \
            drop_below(&(thread), where);                               \
        NSP_DETAIL_PROBE_AT(state, &(slices)[number]->stop);            \
        end_sled(&(thread), where);                                     \
    }                                                                   \
                                                                        \
    void nsf_enter##suffix(uint32_t number, uint64_t *where);           \
    void nsf_enter##suffix(uint32_t number, uint64_t *where)            \
    {                                                                   \
        const struct nsp_slice *const slice = (slices)[number];         \
                                                                        \
        if (enter(&(thread), slice, where, entries, slots))             \
            NSP_DETAIL_PROBE_AT(state, &slice->start);                  \
    }                                                                   \
                                                                        \
    void nsf_leave##suffix(uint32_t number);                            \
    void nsf_leave##suffix(uint32_t number)                             \
    {                                                                   \
        if ((thread).top != &(entries)[number])                         \
            drop_above(&(thread), &(entries)[number]);                  \
        NSP_DETAIL_PROBE_AT(state, &(entries)[number].slice->stop);     \
        leave(&(thread), &(entries)[number]);                           \
    }

TRAMPOLINE_PARTS(, "nsp_detail_state", nsf_slices, nsf_this_thread, nsf_entries, nsf_slots)
TRAMPOLINE_PARTS(_calibration, "nsp_detail_calibration_state", nsf_calibration_slices,
                 nsf_calibrating, nsf_calibration_entries, nsf_calibration_slots)
