/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Threads inside a system call on a TCP socket that passes the filter: a table of fixed size. */
#ifndef NSBPF_CALLS_H
#define NSBPF_CALLS_H

#include <asm/unistd.h>

#include "context.h"
#include "descriptors.h"
#include "filter.h"

/* Written only by the thread that owns it, in thread context. */
struct nsbpf_call {
	int thread;    /* 0: free */
	__u32 is_span; /* a slice inside the call is open */
};

#define NSBPF_CALLS 1024

#define NSBPF_IS_SOCKET(mode) (((mode) & 0170000) == 0140000)

/* Calls of 32-bit programs have other numbers. */
static __always_inline bool nsbpf_is_compat(void)
{
	const struct task_struct *thread = (void *)bpf_get_current_task();

#ifdef __TARGET_ARCH_x86
	return BPF_CORE_READ(thread, thread_info.status) & 2; /* TS_COMPAT */
#else
	return BPF_CORE_READ(thread, thread_info.flags) & 1 << 22; /* TIF_32BIT */
#endif
}

/* Of the running thread; whether it is a socket that passes. */
static __always_inline bool nsbpf_is_wanted_socket(__u32 descriptor)
{
	const struct file *file = nsbpf_file_of(descriptor);
	const struct socket *socket;
	const struct sock *sk;

	if (!file || !NSBPF_IS_SOCKET(BPF_CORE_READ(file, f_inode, i_mode)))
		return false;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	return sk && nsbpf_passes_tcp_socket(sk);
}

static __always_inline struct nsbpf_call *nsbpf_slot(struct nsbpf_call *calls, int thread)
{
	return &calls[thread & (NSBPF_CALLS - 1)];
}

/* NULL: no such socket, or the slot is taken by another thread. */
static __always_inline struct nsbpf_call *nsbpf_call_begin(struct nsbpf_call *calls,
							   const struct pt_regs *regs)
{
	const int thread = (int)bpf_get_current_pid_tgid();
	struct nsbpf_call *call = nsbpf_slot(calls, thread);

	if (nsbpf_is_compat() || !nsbpf_is_wanted_socket((__u32)nsbpf_argument(regs, 0)))
		return NULL;
	return __sync_val_compare_and_swap(&call->thread, 0, thread) == 0 ? call : NULL;
}

/* The running thread's call, in thread context; NULL if it is not in one. */
static __always_inline struct nsbpf_call *nsbpf_call_of_current(struct nsbpf_call *calls)
{
	const int thread = (int)bpf_get_current_pid_tgid();
	struct nsbpf_call *call = nsbpf_slot(calls, thread);

	return *(volatile int *)&call->thread == thread && !nsbpf_in_softirq() ? call : NULL;
}

static __always_inline void nsbpf_call_end(struct nsbpf_call *call)
{
	call->is_span = 0;
	__sync_lock_test_and_set(&call->thread, 0); /* pairs with the exchange in nsbpf_call_begin() */
}

#endif /* NSBPF_CALLS_H */
