/* SPDX-License-Identifier: GPL-2.0 */
/* Filter of the groups' records: by port and protocol of packets; by running process. */
#ifndef NSMOD_KERNEL_FILTER_H
#define NSMOD_KERNEL_FILTER_H

#include <linux/sched.h>
#include <linux/types.h>

#include <nslice/control.h>

struct sk_buff;
struct sock;

/* All zero: no filter.  Set before the groups are attached, constant while they are. */
struct nsmod_kernel_filter {
	u16 port;
	u8 protocol;
	pid_t process; /* thread group, in the initial pid namespace */
};

extern struct nsmod_kernel_filter nsmod_kernel_filter;

/* `pid` of the request is in the caller's pid namespace.  0, or -ESRCH: no such process. */
int nsmod_kernel_filter_set(const struct nslice_kernel_request *request);

/* INFO lines.  Returns bytes written. */
size_t nsmod_kernel_filter_text(char *text, size_t room);

/* Whether a packet or socket is TCP and has the port, if one is set.  Any context. */
bool nsmod_passes_tcp(const struct sk_buff *skb);
bool nsmod_passes_tcp_socket(const struct sock *sk);

/* Whether the packet's headers have the port and protocol.  Any context. */
bool nsmod_kernel_filter_matches(const struct sk_buff *skb);

static inline bool nsmod_passes_packet(const struct sk_buff *skb)
{
	return !nsmod_kernel_filter.port || nsmod_kernel_filter_matches(skb);
}

/* A process is matched by the running or interrupted thread, whose id is in the record. */
static __always_inline bool nsmod_passes_thread(const struct task_struct *thread)
{
	return !nsmod_kernel_filter.process || nsmod_kernel_filter.process == thread->tgid;
}

#endif /* NSMOD_KERNEL_FILTER_H */
