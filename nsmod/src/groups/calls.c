// SPDX-License-Identifier: GPL-2.0
/* Descriptor of a system call -> socket -> whether it passes the filter. */
#include "groups/calls.h"

#include <linux/net.h>
#include <linux/string.h>
#include <net/sock.h>

#include <asm/syscall.h>

#include "groups/kernel_filter.h"

void nsmod_calls_reset(struct nsmod_calls *calls)
{
	memset(calls, 0, sizeof(*calls));
}

static bool is_wanted(int descriptor)
{
	int err;
	struct socket *socket = sockfd_lookup(descriptor, &err);
	const struct sock *sk;
	bool passes;

	if (!socket)
		return false;
	sk = READ_ONCE(socket->sk);
	passes = sk && nsmod_passes_tcp_socket(sk);
	sockfd_put(socket);
	return passes;
}

struct nsmod_call *nsmod_call_begin(struct nsmod_calls *calls, struct pt_regs *regs)
{
	struct nsmod_call *call = &calls->slots[current->pid % NSMOD_CALLS];
	unsigned long arguments[6];

	syscall_get_arguments(current, regs, arguments);
	if (!is_wanted((int)arguments[0]))
		return NULL;
	return cmpxchg(&call->thread, 0, current->pid) == 0 ? call : NULL;
}
