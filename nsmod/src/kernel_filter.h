/* SPDX-License-Identifier: GPL-2.0 */
/* Which records the groups write: all, or those of packets with a port, of a protocol; those made while a process runs. */
#ifndef NSMOD_KERNEL_FILTER_H
#define NSMOD_KERNEL_FILTER_H

#include <linux/sched.h>
#include <linux/types.h>

#include <nslice/control.h>

struct sk_buff;
struct sock;

/* Zeros: everything.  Set before the groups are attached, constant while they are. */
struct nsmod_kernel_filter {
	u16 port;
	u8 protocol;
	pid_t process; /* thread group, as the kernel counts */
};

extern struct nsmod_kernel_filter nsmod_kernel_filter;

/* The request is of the caller: `pid` is of its pid namespace.  0, or -ESRCH: there is no such process. */
int nsmod_kernel_filter_set(const struct nslice_kernel_request *request);

/* INFO lines.  Bytes written. */
size_t nsmod_kernel_filter_text(char *text, size_t room);

/* TCP only, and the port, if one is set: of a packet, of a socket.  Any context. */
bool nsmod_passes_tcp(const struct sk_buff *skb);
bool nsmod_passes_tcp_socket(const struct sock *sk);

/* Whether the packet's headers say port and protocol; any context. */
bool nsmod_kernel_filter_matches(const struct sk_buff *skb);

static inline bool nsmod_passes_packet(const struct sk_buff *skb)
{
	return !nsmod_kernel_filter.port || nsmod_kernel_filter_matches(skb);
}

/* A process is filtered by what the CPU runs or has interrupted, which is whose thread id a record carries. */
static __always_inline bool nsmod_passes_thread(const struct task_struct *thread)
{
	return !nsmod_kernel_filter.process || nsmod_kernel_filter.process == thread->tgid;
}

#endif /* NSMOD_KERNEL_FILTER_H */
