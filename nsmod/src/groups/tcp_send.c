// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_send: the path of each TCP packet from the program's call to the driver.
 *
 *	send_call                       a thread's write() or send() on the socket
 *	  tcp_ip                        nested: up to the first packet and between packets
 *	  unit tcp_send: queue, driver  one packet as passed by IP: device queue; driver
 *
 * Between net_dev_queue and net_dev_xmit a packet that is sent immediately
 * stays on its CPU and in its context (softirqs are off), so each CPU keeps the
 * current packet of each of its four contexts.  If a packet is queued or
 * dropped, its unit ends there.  A packet without a unit when a driver gets it
 * (it waited in a queue, or it is a further segment of a split packet) gives a
 * `driver` outside of a unit.
 */
#include <linux/compat.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include <asm/unistd.h>

#include "compat.h"
#include "groups/calls.h"
#include "groups/points.h"

enum stage { IDLE, IN_QUEUE, IN_DRIVER };

/* The packet being sent in a context of a CPU. */
struct way {
	const struct sk_buff *skb; /* only compared, never dereferenced */
	u32 nested;                /* depth of driver calls inside the packet's: stacked devices */
	u8 stage;
	bool is_split;             /* the packet was split into segments */
	bool has_unit;
};

struct ways {
	struct way of_level[4]; /* process, softirq, hard interrupt, NMI */
};

enum { NSLICE_POINTS_TCP_SEND(NSMOD_POINT_ID) };

static struct nsmod_point points[];
static DEFINE_PER_CPU(struct ways, ways);
static struct nsmod_calls calls;
static atomic64_t packets;

static struct way *way_here(void)
{
	return &raw_cpu_ptr(&ways)->of_level[interrupt_context_level()];
}

static void pause_span(struct nsmod_call *call)
{
	if (!call || !call->is_span)
		return;
	call->is_span = false;
	nsmod_point_slice(&points[TCP_STOP]);
}

static void resume_span(struct nsmod_call *call)
{
	if (!call || call->is_span)
		return;
	call->is_span = true;
	nsmod_point_slice(&points[TCP_START]);
}

/* The packet is not sent in this context or not now. */
static void leave_queue(struct way *way)
{
	if (way->stage != IN_QUEUE)
		return;
	way->stage = IDLE;
	nsmod_point_slice(&points[QUEUE_STOP]);
	nsmod_point_slice(&points[EXIT]);
	resume_span(nsmod_call_of_current(&calls));
}

static bool is_send(long number)
{
	switch (number) {
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
	case __NR_sendfile:
		return !in_compat_syscall();
	default:
		return false;
	}
}

static void call_entry(void *point, struct pt_regs *regs, long number)
{
	struct nsmod_call *call = is_send(number) ? nsmod_call_begin(&calls, regs) : NULL;

	if (!call)
		return;
	nsmod_point_slice(point);
	resume_span(call);
}

static void call_exit(void *point, struct pt_regs *regs, long result)
{
	struct nsmod_call *call = nsmod_call_of_current(&calls);

	if (!call)
		return;
	preempt_disable_notrace(); /* some kernels call these probes with preemption on */
	leave_queue(way_here());
	preempt_enable_notrace();
	pause_span(call);
	nsmod_call_end(call);
	nsmod_point_slice(point);
}

static void queued(void *point, struct sk_buff *skb)
{
	struct way *way = way_here();

	if (way->stage == IN_DRIVER || !nsmod_passes_tcp(skb))
		return;
	leave_queue(way);
	pause_span(nsmod_call_of_current(&calls));
	*way = (struct way){ .skb = skb, .stage = IN_QUEUE };
	nsmod_point_init(point, atomic64_inc_return(&packets), skb->len);
	nsmod_point_slice(&points[QUEUE_START]);
}

static void start_xmit(void *point, const struct sk_buff *skb, const struct net_device *device)
{
	struct way *way = way_here();
	const bool is_own = way->stage == IN_QUEUE && (way->skb == skb || way->is_split);

	if (way->stage == IN_DRIVER) {
		++way->nested;
		return;
	}
	if (is_own)
		nsmod_point_slice(&points[QUEUE_STOP]);
	else
		leave_queue(way);
	if (!is_own && !nsmod_passes_tcp(skb))
		return;
	*way = (struct way){ .stage = IN_DRIVER, .has_unit = is_own };
	nsmod_point_slice(point);
	nsmod_point_mark(&points[WIRE], skb->len);
}

/* The packet may have been freed by now. */
static void end_xmit(void *point, struct sk_buff *skb, int code, struct net_device *device, unsigned int bytes)
{
	struct way *way = way_here();

	if (way->stage != IN_DRIVER)
		return;
	if (way->nested > 0) {
		--way->nested;
		return;
	}
	way->stage = IDLE;
	nsmod_point_slice(point);
	if (way->has_unit)
		nsmod_point_slice(&points[EXIT]);
	resume_span(nsmod_call_of_current(&calls));
}

static void put_aside(void *point, struct Qdisc *queue, const struct netdev_queue *txq, struct sk_buff *skb)
{
	leave_queue(way_here());
}

/* Not always this packet: a full queue may drop an older one instead. */
static void dropped(void *point, struct sk_buff *skb, void *location, enum skb_drop_reason reason NSMOD_KFREE_SKB_SOCKET)
{
	leave_queue(way_here());
}

static void consumed(void *point, struct sk_buff *skb NSMOD_CONSUME_SKB_LOCATION)
{
	struct way *way = way_here();

	if (way->stage == IN_QUEUE && way->skb == skb)
		way->is_split = true;
	else if (nsmod_passes_tcp(skb))
		nsmod_point_mark(point, skb->len);
}

static void sent(void *point, struct sock *sk, int bytes, int flags)
{
	if (nsmod_passes_tcp_socket(sk))
		nsmod_point_mark(point, bytes);
}

static void switched(void *point, bool preempt, struct task_struct *previous, struct task_struct *next, unsigned int state)
{
	leave_queue(&raw_cpu_ptr(&ways)->of_level[0]);
}

static void softirq_over(void *point, unsigned int vector)
{
	leave_queue(way_here());
}

static struct nsmod_point points[] = { NSLICE_POINTS_TCP_SEND(NSMOD_POINT) };

static void reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&ways, cpu), 0, sizeof(struct ways));
	nsmod_calls_reset(&calls);
	atomic64_set(&packets, 0);
}

NSMOD_GROUP(tcp_send, .reset = reset);
