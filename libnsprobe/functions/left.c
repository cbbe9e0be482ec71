/* SPDX-License-Identifier: MIT */
/* Calls that were left otherwise than by their return, or may have been -> their entries free. */
#include "inside.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <nsprobe/detail/arch.h>
#include <nsprobe/detail/state.h>

#include "writer/arch.h"

uint64_t nsf_skipped[NSF_SKIPPED];

int nsf_skip(enum nsf_skipped cause)
{
    __atomic_fetch_add(&nsf_skipped[cause], 1, __ATOMIC_RELAXED);
    return 0;
}

/* By a bare system call: the C library's function may change vector registers. */
static int read_signal_stack(stack_t *stack)
{
    *stack = (stack_t){.ss_flags = SS_DISABLE};
    return nsp_syscall3(SYS_sigaltstack, 0, (long)stack, 0) == 0;
}

int nsf_runs_on_signal_stack(void)
{
    stack_t stack;

    return read_signal_stack(&stack) && stack.ss_flags & SS_ONSTACK;
}

static int is_in_signal_stack(const uint64_t *place)
{
    stack_t stack;

    return read_signal_stack(&stack) && !(stack.ss_flags & SS_DISABLE) &&
           (uint64_t)place - (uint64_t)stack.ss_sp < stack.ss_size;
}

static struct nsf_entry *all_with(const struct nsf_entry *entry)
{
    const uint64_t offset = (uint64_t)entry - (uint64_t)nsf_calibration_entries;

    return offset < sizeof(nsf_calibration_entries) ? nsf_calibration_entries : nsf_entries;
}

static uint64_t slot_of(const struct nsf_entry *entry)
{
    const struct nsf_entry *const all = all_with(entry);

    return nsf_slot_of(entry, all, all == nsf_entries ? nsf_slots : nsf_calibration_slots);
}

/* As the first of its block, of any thread. */
static int is_free(const struct nsf_entry *entry)
{
    const struct nsf_entry *const all = all_with(entry);

    return entry->where == all[(entry - all) / NSF_BLOCK_ENTRIES * NSF_BLOCK_ENTRIES].where;
}

/* The last function that is recorded ends, where that is noticed. */
static void end_top(struct nsf_thread *thread)
{
    struct nsf_entry *const top = thread->top;

    if (!is_free(top))
        NSP_DETAIL_PROBE_AT("nsp_detail_state", &top->slice->stop);
    top->where = thread->free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->top = top - 1;
}

/*
 * Another thread may run the call meanwhile: hence the exchange.  In a frame that is gone it
 * changes nothing that is used.
 */
static int drop_top(struct nsf_thread *thread)
{
    const struct nsf_entry *const top = thread->top;
    uint64_t slot = slot_of(top);

    if (!nsf_is_on_stack(thread, top->where) && !is_in_signal_stack(top->where))
        return 0;
    if (__atomic_compare_exchange_n(top->where, &slot, top->return_address, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        nsf_skip(NSF_END_UNKNOWN);
    end_top(thread);
    return 1;
}

static int drop_above(struct nsf_thread *thread, const struct nsf_entry *entry)
{
    while (thread->top > entry)
        if (!drop_top(thread))
            return 0;
    return 1;
}

/*
 * By longjmp(), or with an alternate signal stack.  A return address that still is in its place may
 * be used yet: of a function that called this one as its last act, or, on a stack inside of a
 * frame, of those below it.
 */
int nsf_drop_left_behind(struct nsf_thread *thread, const uint64_t *where)
{
    while (thread->top->where <= where || thread->top->where > thread->free) {
        if (nsf_is_on_stack(thread, thread->top->where) &&
            *thread->top->where == slot_of(thread->top))
            return 1;
        if (!drop_top(thread))
            return 0;
    }
    return 1;
}

void nsf_drop_below(struct nsf_thread *thread, const uint64_t *where)
{
    while (thread->top->where < where && drop_top(thread)) {
    }
}

static int is_used_by(const struct nsf_thread *thread, const struct nsf_entry *entry)
{
    return thread->bytes > 0 && entry <= thread->top &&
           entry > thread->limit - (NSF_BLOCK_ENTRIES - 1);
}

void nsf_unwound(uint32_t number)
{
    struct nsf_thread *const thread = &nsf_this_thread;
    const struct nsf_entry *const entry = &nsf_entries[number];
    const uint64_t *const where = entry->where;

    if (!is_used_by(thread, entry) || !drop_above(thread, entry))
        return;
    while (thread->top->where == where && where != thread->free) /* and those that called it last */
        end_top(thread); /* unwinders still read its place */
}

/* The return address is that of another call: its own cannot be found. */
static void __attribute__((noreturn)) refuse_to_return(void)
{
    static const char text[] =
        "netslice: a recorded function returns on a stack that has been moved: programs that move "
        "their stacks cannot be recorded by patchable entries (use XRay sleds)\n";

    nsp_syscall3(SYS_write, 2, (long)text, sizeof(text) - 1);
    abort();
}

/*
 * The entry of a call that was just returning, and whose return address had left the entry already,
 * may have been dropped: by a signal handler on a stack inside of the thread's, or by the thread
 * that began the call.
 */
int nsf_may_leave(struct nsf_thread *thread, struct nsf_entry *entry, const uint64_t *where)
{
    const int is_own = is_used_by(thread, entry);

    if (entry->where != where && !is_free(entry))
        refuse_to_return();
    if (is_own && entry->where == where && drop_above(thread, entry))
        return 1;
    if (is_own)
        entry->where = thread->free; /* those above it stay */
    return nsf_skip(NSF_END_UNKNOWN);
}
