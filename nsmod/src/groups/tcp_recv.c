// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_recv: the path of each TCP packet from the driver to the program's call.
 *
 *	gro                        a driver's packet is merged with others
 *	unit tcp_recv: ip, tcp     one packet in a softirq: from the stack's entry; from TCP's lookup
 *	recv_call                  a thread's read() or recv() on the socket
 *	  copy                     nested: a packet's data are copied to the program
 *
 * No tracepoint marks the end of TCP's work on a packet, so its unit ends with the first of these:
 * the next packet, its release, the end of the poll or of the softirq.
 */
#include <linux/compat.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include <asm/unistd.h>

#include "compat.h"
#include "groups/calls.h"
#include "groups/points.h"

enum stage { IDLE, IN_IP, IN_TCP };

/* The packet that a CPU's softirq is processing. */
struct way {
	const struct sk_buff *skb; /* only compared, never dereferenced */
	u8 stage;
	bool has_unit;
};

enum { NSLICE_POINTS_TCP_RECV(NSMOD_POINT_ID) };

static struct nsmod_point points[];
static DEFINE_PER_CPU(struct way, way);
static DEFINE_PER_CPU(struct nsmod_passed, gro);
static struct nsmod_calls calls;
static atomic64_t packets;

/* NULL if not in a softirq. */
static struct way *way_here(void)
{
	return interrupt_context_level() == 1 ? raw_cpu_ptr(&way) : NULL;
}

static void leave(struct way *here)
{
	if (!here || here->stage == IDLE)
		return;
	nsmod_point_slice(&points[here->stage == IN_IP ? IP_STOP : TCP_STOP]);
	here->stage = IDLE;
	if (here->has_unit)
		nsmod_point_slice(&points[EXIT]);
}

static void gro_entry(void *point, const struct sk_buff *skb)
{
	leave(way_here());
	if (nsmod_entry_passes(&gro, nsmod_passes_tcp(skb)))
		nsmod_point_slice(point);
}

static void gro_exit(void *point, int ret)
{
	leave(way_here());
	if (nsmod_exit_passes(&gro))
		nsmod_point_slice(point);
}

/* Length of the frame; the stack has already removed the link header. */
static u64 wire_bytes(const struct sk_buff *skb)
{
	return skb->len + (skb_mac_header_was_set(skb) ? skb->data - skb_mac_header(skb) : 0);
}

static void received(void *point, struct sk_buff *skb)
{
	struct way *here = way_here();

	leave(here);
	if (!here || !nsmod_passes_tcp(skb))
		return;
	*here = (struct way){ .skb = skb, .stage = IN_IP, .has_unit = true };
	nsmod_point_init(point, atomic64_inc_return(&packets), wire_bytes(skb));
	nsmod_point_slice(&points[IP_START]);
}

/*
 * Packets may arrive as a list: then the stack has started on all of them
 * before TCP gets the first.
 */
static void tcp_begins(void *point, struct sock *sk, struct sk_buff *skb)
{
	struct way *here = way_here();

	if (!here || !nsmod_passes_tcp_socket(sk))
		return;
	if (here->stage == IN_IP && here->skb == skb) {
		nsmod_point_slice(&points[IP_STOP]);
	} else {
		leave(here);
		here->has_unit = false;
	}
	here->skb = skb;
	here->stage = IN_TCP;
	nsmod_point_slice(point);
}

static void polled(void *point, struct napi_struct *napi, int work, int budget)
{
	leave(way_here());
}

static void receive_exit(void *point, int ret)
{
	leave(way_here());
}

static void softirq_over(void *point, unsigned int vector)
{
	leave(way_here());
}

static void released(const struct sk_buff *skb)
{
	struct way *here = way_here();

	if (here && here->skb == skb)
		leave(here);
}

static void dropped(void *point, struct sk_buff *skb, void *location, enum skb_drop_reason reason NSMOD_KFREE_SKB_SOCKET)
{
	released(skb);
}

static void consumed(void *point, struct sk_buff *skb NSMOD_CONSUME_SKB_LOCATION)
{
	released(skb);
}

static void ready(void *point, const struct sock *sk)
{
	if (nsmod_passes_tcp_socket(sk))
		nsmod_point_mark(point, 1);
}

static bool is_receive(long number)
{
	switch (number) {
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
		return !in_compat_syscall();
	default:
		return false;
	}
}

static void call_entry(void *point, struct pt_regs *regs, long number)
{
	if (is_receive(number) && nsmod_call_begin(&calls, regs))
		nsmod_point_slice(point);
}

static void end_copy(struct nsmod_call *call)
{
	if (!call || !call->is_span)
		return;
	call->is_span = false;
	nsmod_point_slice(&points[COPY_STOP]);
}

static void call_exit(void *point, struct pt_regs *regs, long result)
{
	struct nsmod_call *call = nsmod_call_of_current(&calls);

	if (!call)
		return;
	end_copy(call);
	nsmod_call_end(call);
	nsmod_point_slice(point);
}

static void copy(void *point, const struct sk_buff *skb, int bytes)
{
	struct nsmod_call *call = nsmod_call_of_current(&calls);

	if (!call)
		return;
	end_copy(call);
	call->is_span = true;
	nsmod_point_slice(point);
	nsmod_point_mark(&points[COPIED], bytes);
}

static void copy_over(void *point, struct sock *sk)
{
	end_copy(nsmod_call_of_current(&calls));
}

static struct nsmod_point points[] = { NSLICE_POINTS_TCP_RECV(NSMOD_POINT) };

static void reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(&way, cpu), 0, sizeof(struct way));
		memset(per_cpu_ptr(&gro, cpu), 0, sizeof(struct nsmod_passed));
	}
	nsmod_calls_reset(&calls);
	atomic64_set(&packets, 0);
}

NSMOD_GROUP(tcp_recv, .reset = reset);
