/* SPDX-License-Identifier: GPL-2.0 */
/* Threads inside a system call on a TCP socket that passes the filter: a table of fixed size. */
#ifndef NSMOD_CALLS_H
#define NSMOD_CALLS_H

#include <linux/sched.h>
#include <linux/types.h>

struct pt_regs;

/* Written only by the thread that owns it, in process context. */
struct nsmod_call {
	pid_t thread; /* 0: free */
	bool is_span; /* a slice inside the call is open */
};

#define NSMOD_CALLS 1024

struct nsmod_calls {
	struct nsmod_call slots[NSMOD_CALLS];
};

void nsmod_calls_reset(struct nsmod_calls *calls);

/*
 * Start of a call whose first argument is a descriptor.  NULL: no such socket,
 * or the slot is taken by another thread.
 */
struct nsmod_call *nsmod_call_begin(struct nsmod_calls *calls, struct pt_regs *regs);

/* The current thread's call, in process context; NULL if it is not in one. */
static inline struct nsmod_call *nsmod_call_of_current(struct nsmod_calls *calls)
{
	struct nsmod_call *call = &calls->slots[current->pid % NSMOD_CALLS];

	return in_task() && READ_ONCE(call->thread) == current->pid ? call : NULL;
}

static inline void nsmod_call_end(struct nsmod_call *call)
{
	call->is_span = false;
	smp_store_release(&call->thread, 0); /* pairs with the exchange in nsmod_call_begin() */
}

#endif /* NSMOD_CALLS_H */
