/* SPDX-License-Identifier: MIT */
/* C part of the trampolines: number of a function -> record, and its return address replaced. */
#include "inside.h"

#include <nsprobe/detail/arch.h>
#include <nsprobe/detail/state.h>

#include "writer/arch.h"

struct nsp_slice **nsf_slices;

__thread struct nsf_thread nsf_this_thread;
__thread struct nsf_thread nsf_calibrating;

struct nsf_entry nsf_entries[NSF_ENTRIES];
struct nsf_entry nsf_calibration_entries[NSF_BLOCK_ENTRIES];

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
        return nsf_skip(NSF_IN_LIBRARY);
    if (thread->bytes == 0 && (is_calibration || nsf_stack_is_known()))
        prepare(thread, is_calibration);
    if (thread->bytes == 0)
        return nsf_skip(nsf_stack_is_known() ? NSF_NO_BLOCK : NSF_UNKNOWN_STACK);
    if (!nsf_is_on_stack(thread, where) && !nsf_runs_on_signal_stack())
        return nsf_skip(NSF_FOREIGN_STACK);
    if (nsf_is_on_stack(thread, where) && !nsf_drop_left_behind(thread, where))
        return nsf_skip(NSF_LEFT_SIGNAL_STACK);
    return thread->top < thread->limit ? 1 : nsf_skip(NSF_TOO_DEEP);
}

/* The same for a function with sleds, which is recorded in any case. */
static __attribute__((noinline)) int may_track(struct nsf_thread *thread, const uint64_t *where,
                                               int is_calibration)
{
    if (thread->bytes == 0 && !thread->is_busy && (is_calibration || nsf_stack_is_known()))
        prepare(thread, is_calibration);
    return nsf_is_on_stack(thread, where) && nsf_drop_left_behind(thread, where) &&
           thread->top < thread->limit;
}

/* The return address was not in its place yet when a handler on a stack inside of the thread's
 * came. */
static __attribute__((noinline)) int is_taken_by_handler(uint64_t *where, uint64_t return_address)
{
    *where = return_address;
    return nsf_skip(NSF_TAKEN_BY_HANDLER);
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
    uint64_t return_address;

    if (slice->start.mode == NSP_DETAIL_MODE_OFF)
        return 0;
    top = thread->top;
    if (!nsf_is_on_stack(thread, where) || top == thread->limit || top->where <= where ||
        top->where > thread->free) {
        if (!may_enter(thread, where, entries == nsf_calibration_entries))
            return 0;
        top = thread->top;
    }
    ++top;
    thread->top = top;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return_address = *where;
    top->slice = slice;
    top->return_address = return_address;
    top->caller =
        top[-1].where == where ? top[-1].caller : return_address - 1; /* a tail call, or not */
    top->where = where;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *where = nsf_slot_of(top, entries, slots);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return top->where == where || is_taken_by_handler(where, return_address);
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
    if (!nsf_is_on_stack(thread, where) || top == thread->limit || top->where <= where ||
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
    return nsf_is_on_stack(thread, where) && thread->top->where < where;
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
            nsf_drop_below(&(thread), where);                           \
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
    void nsf_leave##suffix(uint32_t number, const uint64_t *where);     \
    void nsf_leave##suffix(uint32_t number, const uint64_t *where)      \
    {                                                                   \
        struct nsf_entry *const entry = &(entries)[number];             \
                                                                        \
        if (((thread).top != entry || entry->where != where) &&         \
            !nsf_may_leave(&(thread), entry, where))                    \
            return;                                                     \
        NSP_DETAIL_PROBE_AT(state, &entry->slice->stop);                \
        leave(&(thread), entry);                                        \
    }

TRAMPOLINE_PARTS(, "nsp_detail_state", nsf_slices, nsf_this_thread, nsf_entries, nsf_slots)
TRAMPOLINE_PARTS(_calibration, "nsp_detail_calibration_state", nsf_calibration_slices,
                 nsf_calibrating, nsf_calibration_entries, nsf_calibration_slots)
