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
    uint64_t low;            /* the thread's stack; 0 bytes: not known yet */
    uint64_t bytes;
    uint64_t *free;   /* inside the stack, above all frames: never looks left behind */
    uint32_t is_busy; /* in the library's own slow path */
};

/* Calls that have no slice, by cause. */
enum nsf_skipped {
    NSF_TOO_DEEP,      /* no entry left in the thread's block */
    NSF_NO_BLOCK,      /* more threads than blocks */
    NSF_FOREIGN_STACK, /* neither the thread's stack nor its alternate signal stack */
    NSF_IN_LIBRARY,    /* called by the library's own slow path */
    NSF_SKIPPED,
};
extern uint64_t nsf_skipped[NSF_SKIPPED];

/* Slices by the number that a stub passes; for calibration one. */
extern struct nsp_slice **nsf_slices;
extern struct nsp_slice **nsf_calibration_slices;

extern struct nsf_entry nsf_entries[NSF_ENTRIES];
extern struct nsf_entry nsf_calibration_entries[NSF_BLOCK_ENTRIES];
extern const char nsf_slots[], nsf_calibration_slots[];

extern __thread struct nsf_thread nsf_this_thread __attribute__((tls_model("initial-exec")));
extern __thread struct nsf_thread nsf_calibrating __attribute__((tls_model("initial-exec")));

/* An exception, or the end of the thread, leaves the function with this entry. */
void nsf_unwound(uint32_t number);

/* The calling thread's stack and block; bytes stay 0 if there is no block for it (thread.c). */
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
