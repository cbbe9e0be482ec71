/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * tcp_send: the path of each TCP packet from the program's call to the driver, as nsmod's
 * src/groups/tcp_send.c follows it: each CPU keeps the current packet of either context, and a
 * packet that is queued or dropped ends its unit there.
 */
enum nsbpf_send_stage { NSBPF_SEND_IDLE, NSBPF_IN_QUEUE, NSBPF_IN_DRIVER };

/* The packet being sent in a context of a CPU. */
struct nsbpf_send_way {
	__u64 skb;    /* only compared, never dereferenced */
	__u32 nested; /* depth of driver calls inside the packet's: stacked devices */
	__u8 stage;
	__u8 is_split; /* the packet was split into segments */
	__u8 has_unit;
	__u8 padding;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* thread, softirq */
	__type(key, __u32);
	__type(value, struct nsbpf_send_way);
} nsbpf_send_ways SEC(".maps");

static struct nsbpf_call nsbpf_send_calls[NSBPF_CALLS];
__u64 nsbpf_send_packets;

static __always_inline struct nsbpf_send_way *nsbpf_send_way_of(__u32 level)
{
	return bpf_map_lookup_elem(&nsbpf_send_ways, &level);
}

static __always_inline struct nsbpf_send_way *nsbpf_send_way_here(void)
{
	return nsbpf_send_way_of(nsbpf_in_softirq());
}

static __always_inline void nsbpf_pause_span(struct nsbpf_call *call)
{
	if (!call || !call->is_span)
		return;
	call->is_span = 0;
	nsbpf_slice(TCP_SEND_TCP_STOP);
}

static __always_inline void nsbpf_resume_span(struct nsbpf_call *call)
{
	if (!call || call->is_span)
		return;
	call->is_span = 1;
	nsbpf_slice(TCP_SEND_TCP_START);
}

/* The packet is not sent in this context or not now. */
static __always_inline void nsbpf_leave_queue(struct nsbpf_send_way *way)
{
	if (way->stage != NSBPF_IN_QUEUE)
		return;
	way->stage = NSBPF_SEND_IDLE;
	nsbpf_slice(TCP_SEND_QUEUE_STOP);
	nsbpf_slice(TCP_SEND_EXIT);
	nsbpf_resume_span(nsbpf_call_of_current(nsbpf_send_calls));
}

static __always_inline bool nsbpf_is_send(long number)
{
	switch (number) {
	case __NR_write:
	case __NR_writev:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
	case __NR_sendfile:
		return true;
	default:
		return false;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(tcp_send_sys_enter, const struct pt_regs *regs, long number)
{
	struct nsbpf_call *call;

	if (!nsbpf_is_send(number))
		return 0;
	call = nsbpf_call_begin(nsbpf_send_calls, regs);
	if (!call)
		return 0;
	nsbpf_slice(TCP_SEND_CALL_START);
	nsbpf_resume_span(call);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(tcp_send_sys_exit)
{
	struct nsbpf_call *call = nsbpf_call_of_current(nsbpf_send_calls);
	struct nsbpf_send_way *way;

	if (!call)
		return 0;
	way = nsbpf_send_way_of(0);
	if (way)
		nsbpf_leave_queue(way);
	nsbpf_pause_span(call);
	nsbpf_call_end(call);
	nsbpf_slice(TCP_SEND_CALL_STOP);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(tcp_send_net_dev_queue, const struct sk_buff *skb)
{
	struct nsbpf_send_way *way = nsbpf_send_way_here();

	if (!way || way->stage == NSBPF_IN_DRIVER || !nsbpf_passes_tcp(skb))
		return 0;
	nsbpf_leave_queue(way);
	nsbpf_pause_span(nsbpf_call_of_current(nsbpf_send_calls));
	*way = (struct nsbpf_send_way){ .skb = (__u64)skb, .stage = NSBPF_IN_QUEUE };
	nsbpf_init(TCP_SEND_INIT, __sync_fetch_and_add(&nsbpf_send_packets, 1) + 1, skb->len);
	nsbpf_slice(TCP_SEND_QUEUE_START);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(tcp_send_net_dev_start_xmit, const struct sk_buff *skb)
{
	struct nsbpf_send_way *way = nsbpf_send_way_here();
	bool is_own;

	if (!way)
		return 0;
	if (way->stage == NSBPF_IN_DRIVER) {
		++way->nested;
		return 0;
	}
	is_own = way->stage == NSBPF_IN_QUEUE && (way->skb == (__u64)skb || way->is_split);
	if (is_own)
		nsbpf_slice(TCP_SEND_QUEUE_STOP);
	else
		nsbpf_leave_queue(way);
	if (!is_own && !nsbpf_passes_tcp(skb))
		return 0;
	*way = (struct nsbpf_send_way){ .stage = NSBPF_IN_DRIVER, .has_unit = is_own };
	nsbpf_slice(TCP_SEND_DRIVER_START);
	nsbpf_mark(TCP_SEND_WIRE, skb->len);
	return 0;
}

/* The packet may have been freed by now. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(tcp_send_net_dev_xmit)
{
	struct nsbpf_send_way *way = nsbpf_send_way_here();

	if (!way || way->stage != NSBPF_IN_DRIVER)
		return 0;
	if (way->nested > 0) {
		--way->nested;
		return 0;
	}
	way->stage = NSBPF_SEND_IDLE;
	nsbpf_slice(TCP_SEND_DRIVER_STOP);
	if (way->has_unit)
		nsbpf_slice(TCP_SEND_EXIT);
	nsbpf_resume_span(nsbpf_call_of_current(nsbpf_send_calls));
	return 0;
}

#define NSBPF_LEAVES_QUEUE(tracepoint, way_)                            \
	SEC("tp_btf/" #tracepoint)                                      \
	int BPF_PROG(tcp_send_##tracepoint)                             \
	{                                                               \
		struct nsbpf_send_way *way = way_;                      \
                                                                        \
		if (way)                                                \
			nsbpf_leave_queue(way);                         \
		return 0;                                               \
	}

NSBPF_LEAVES_QUEUE(qdisc_enqueue, nsbpf_send_way_here())
/* Not always this packet: a full queue may drop an older one instead. */
NSBPF_LEAVES_QUEUE(kfree_skb, nsbpf_send_way_here())
NSBPF_LEAVES_QUEUE(sched_switch, nsbpf_send_way_of(0))
NSBPF_LEAVES_QUEUE(softirq_exit, nsbpf_send_way_here())

SEC("tp_btf/consume_skb")
int BPF_PROG(tcp_send_consume_skb, const struct sk_buff *skb)
{
	struct nsbpf_send_way *way = nsbpf_send_way_here();

	if (way && way->stage == NSBPF_IN_QUEUE && way->skb == (__u64)skb)
		way->is_split = 1;
	else if (nsbpf_passes_tcp(skb))
		nsbpf_mark(TCP_SEND_RELEASE, skb->len);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(tcp_send_sock_send_length, const struct sock *sk, int bytes)
{
	if (nsbpf_passes_tcp_socket(sk))
		nsbpf_mark(TCP_SEND_SENT, bytes);
	return 0;
}
