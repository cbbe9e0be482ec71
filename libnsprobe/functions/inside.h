/* SPDX-License-Identifier: MIT */
/* What trampolines and their C part share: slices by number, and each thread's shadow stack. */
#ifndef NSF_INSIDE_H
#define NSF_INSIDE_H

/*
 * Return addresses that trampolines have replaced are kept in entries.  Each entry has a slot: 16
 * bytes of code that functions return to, whose address names the entry.  A thread has one block
 * of entries; the first of a block is never used, so that the entry below the top always exists.
 */
#define NSF_BLOCK_ENTRIES 64
#define NSF_BLOCKS 1024
#define NSF_ENTRIES (NSF_BLOCKS * NSF_BLOCK_ENTRIES)
#define NSF_ENTRY_BYTES 32
#define NSF_SLOT_BYTES 16

#ifndef __ASSEMBLER__

#include <stdint.h>

#include <nsprobe/detail/site.h>

/* None is exported: each is reached by the same instructions, in a session and in calibration. */
#pragma GCC visibility push(hidden)

struct nsf_entry {
    uint64_t return_address; /* first: the slots' code and their unwind information read it */
    uint64_t *where;         /* place on the stack; of a free entry: nsf_thread.free */
    const struct nsp_slice *slice;
    uint64_t caller; /* for unwinders: in the call to which the program itself returns */
};
_Static_assert(sizeof(struct nsf_entry) == NSF_ENTRY_BYTES, "the slots' code counts on it");

struct nsf_thread {
    struct nsf_entry *top;   /* the last entry in use */
    struct nsf_entry *limit; /* the last of the block */
    uint64_t low;            /* the thread's stack; 0 bytes: it has no block yet */
    uint64_t bytes;
    uint64_t *free;   /* inside the stack, above all frames: never looks left behind */
    uint32_t is_busy; /* in the library's own slow path */
};

/* What could not be recorded as it was, by cause: calls that have no slice, but for the last. */
enum nsf_skipped {
    NSF_TOO_DEEP,          /* no entry left in the thread's block */
    NSF_NO_BLOCK,          /* more threads than blocks */
    NSF_UNKNOWN_STACK,     /* the thread was not begun by pthread_create() or thrd_create() */
    NSF_FOREIGN_STACK,     /* neither the thread's stack nor its alternate signal stack */
    NSF_LEFT_SIGNAL_STACK, /* a call may go on on a signal stack that the thread has no more */
    NSF_TAKEN_BY_HANDLER,  /* its entry was, while it was filled */
    NSF_IN_LIBRARY,        /* called by the library's own slow path */
    NSF_END_UNKNOWN,       /* a slice: it ended where it was noticed, and the call may go on */
    NSF_SKIPPED,
};
extern uint64_t nsf_skipped[NSF_SKIPPED];
int nsf_skip(enum nsf_skipped cause); /* returns 0 */

/* Slices by the number that a stub passes; for calibration one. */
extern struct nsp_slice **nsf_slices;
extern struct nsp_slice **nsf_calibration_slices;

extern struct nsf_entry nsf_entries[NSF_ENTRIES];
extern struct nsf_entry nsf_calibration_entries[NSF_BLOCK_ENTRIES];
extern const char nsf_slots[], nsf_calibration_slots[];

extern __thread struct nsf_thread nsf_this_thread __attribute__((tls_model("initial-exec")));
extern __thread struct nsf_thread nsf_calibrating __attribute__((tls_model("initial-exec")));

static inline uint64_t nsf_slot_of(const struct nsf_entry *entry, const struct nsf_entry *entries,
                                   const char *slots)
{
    return (uint64_t)slots + (uint64_t)(entry - entries) * NSF_SLOT_BYTES;
}

static inline int nsf_is_on_stack(const struct nsf_thread *thread, const uint64_t *place)
{
    return (uint64_t)place - thread->low < thread->bytes;
}

/*
 * Entries of calls that were left otherwise than by their return (left.c).  A call whose place
 * still has its slot may go on, on a stack inside of a stack: it gets its return address back.
 * False: that is not possible, and the entry stays.
 */
int nsf_drop_left_behind(struct nsf_thread *thread, const uint64_t *where);
void nsf_drop_below(struct nsf_thread *thread, const uint64_t *where);
/* A call returns, whose entry is not the last, or is not its own any more: whether it ends a slice.
 */
int nsf_may_leave(struct nsf_thread *thread, struct nsf_entry *entry, const uint64_t *where);
int nsf_runs_on_signal_stack(void);

/* An exception, or the end of the thread, leaves the function with this entry. */
void nsf_unwound(uint32_t number);

/* At a thread's start, when it may allocate: finds its stack (thread.c). */
void nsf_begin_thread(void);
int nsf_stack_is_known(void);
/* Gives the calling thread a block.  `bytes` is still 0 afterwards if no block is left. */
void nsf_prepare_thread(void);
void nsf_prepare_calibration(void);
/* Before functions are patched, in the main thread. */
void nsf_threads_begin(void);

/* Targets of stubs. */
void nsf_entry_sled(void);
void nsf_exit_sled(void);
void nsf_tail_sled(void);
void nsf_patched_entry(void);

#pragma GCC visibility pop

#endif /* __ASSEMBLER__ */
#endif /* NSF_INSIDE_H */
