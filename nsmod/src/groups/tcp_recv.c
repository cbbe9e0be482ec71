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

enum {
	GRO_START, INIT, IP_START, TCP_START, CALL_START, COPY_START, COPIED, READY, GRO_STOP, IP_STOP, TCP_STOP, EXIT, RECEIVED, DROPPED,
	CONSUMED, SOFTIRQ_OVER, COPY_STOP, CALL_STOP,
};

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

static struct nsmod_point points[] = {
	[GRO_START] = NSMOD_START("napi_gro_receive_entry", gro_entry, "gro", "a driver passes a packet to GRO"),
	[INIT] = NSMOD_INIT("netif_receive_skb", received, "tcp_recv", "a packet enters the stack: number, 1, length"),
	[IP_START] = NSMOD_START("netif_receive_skb", NULL, "ip", "taps, filters, IP, and TCP's lookup of the connection"),
	[TCP_START] = NSMOD_START("tcp_probe", tcp_begins, "tcp", "TCP has found the established connection"),
	[CALL_START] = NSMOD_START("sys_enter", call_entry, "recv_call", "a program's read, readv, recv... on a TCP socket"),
	[COPY_START] = NSMOD_START("skb_copy_datagram_iovec", copy, "copy", "data of a packet are copied to the program"),
	[COPIED] = NSMOD_MARK("skb_copy_datagram_iovec", NULL, "copied", "number of bytes"),
	[READY] = NSMOD_MARK("sk_data_ready", ready, "data_ready", "TCP notifies the socket's readers"),
	[GRO_STOP] = NSMOD_STOP("napi_gro_receive_exit", gro_exit, "gro", "it was merged or passed on"),
	[IP_STOP] = NSMOD_STOP("tcp_probe", NULL, "ip", "TCP has found the connection, or the packet's unit ends"),
	[TCP_STOP] = NSMOD_STOP("napi_poll", polled, "tcp", "the poll ends, or the next packet begins"),
	[EXIT] = NSMOD_EXIT("napi_poll", NULL, "tcp_recv", "the same"),
	[RECEIVED] = NSMOD_STOP("netif_receive_skb_exit", receive_exit, "tcp", "the stack returns to the driver; the packet's unit ends"),
	[DROPPED] = NSMOD_STOP("kfree_skb", dropped, "tcp", "the packet is dropped; its unit ends"),
	[CONSUMED] = NSMOD_STOP("consume_skb", consumed, "tcp", "the packet is consumed; its unit ends"),
	[SOFTIRQ_OVER] = NSMOD_STOP("softirq_exit", softirq_over, "tcp", "the softirq ends; the packet's unit ends"),
	[COPY_STOP] = NSMOD_STOP("tcp_rcv_space_adjust", copy_over, "copy", "the copy is complete"),
	[CALL_STOP] = NSMOD_STOP("sys_exit", call_exit, "recv_call", "the call returns"),
};

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

const struct nsmod_group nsmod_group_tcp_recv = {
	.name = "tcp_recv", .says = "TCP packets from the driver to the program's call",
	.points = points, .count = ARRAY_SIZE(points), .reset = reset,
};
