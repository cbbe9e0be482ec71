/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * tcp_recv: the path of each TCP packet from the driver to the program's call, as nsmod's
 * src/groups/tcp_recv.c follows it.  No tracepoint marks the end of TCP's work on a packet, so its
 * unit ends with the next packet, its release, or the end of the poll or of the softirq.
 */
enum nsbpf_recv_stage { NSBPF_RECV_IDLE, NSBPF_IN_IP, NSBPF_IN_TCP };

/* The packet that a CPU's softirq is processing. */
struct nsbpf_recv_way {
	__u64 skb; /* only compared, never dereferenced */
	__u32 stage;
	__u32 has_unit;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nsbpf_recv_way);
} nsbpf_recv_ways SEC(".maps");

static struct nsbpf_call nsbpf_recv_calls[NSBPF_CALLS];
__u64 nsbpf_recv_packets;

/* NULL if not in a softirq. */
static __always_inline struct nsbpf_recv_way *nsbpf_recv_way_here(void)
{
	const __u32 only = 0;

	return nsbpf_in_softirq() ? bpf_map_lookup_elem(&nsbpf_recv_ways, &only) : NULL;
}

static __always_inline void nsbpf_leave(struct nsbpf_recv_way *here)
{
	if (!here || here->stage == NSBPF_RECV_IDLE)
		return;
	nsbpf_slice(here->stage == NSBPF_IN_IP ? TCP_RECV_IP_STOP : TCP_RECV_TCP_STOP);
	here->stage = NSBPF_RECV_IDLE;
	if (here->has_unit)
		nsbpf_slice(TCP_RECV_EXIT);
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(tcp_recv_napi_gro_receive_entry, const struct sk_buff *skb)
{
	nsbpf_leave(nsbpf_recv_way_here());
	if (nsbpf_entry_passes(NSBPF_PASSED_TCP_GRO, nsbpf_passes_tcp(skb)))
		nsbpf_slice(TCP_RECV_GRO_START);
	return 0;
}

SEC("tp_btf/napi_gro_receive_exit")
int BPF_PROG(tcp_recv_napi_gro_receive_exit)
{
	nsbpf_leave(nsbpf_recv_way_here());
	if (nsbpf_exit_passes(NSBPF_PASSED_TCP_GRO))
		nsbpf_slice(TCP_RECV_GRO_STOP);
	return 0;
}

/* Length of the frame; the stack has already removed the link header. */
static __always_inline __u64 nsbpf_wire_bytes(const struct sk_buff *skb)
{
	const __u16 link = skb->mac_header;

	return skb->len + (link != (__u16)~0 ? skb->data - skb->head - link : 0);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(tcp_recv_netif_receive_skb, const struct sk_buff *skb)
{
	struct nsbpf_recv_way *here = nsbpf_recv_way_here();

	nsbpf_leave(here);
	if (!here || !nsbpf_passes_tcp(skb))
		return 0;
	*here = (struct nsbpf_recv_way){ .skb = (__u64)skb, .stage = NSBPF_IN_IP, .has_unit = 1 };
	nsbpf_init(TCP_RECV_INIT, __sync_fetch_and_add(&nsbpf_recv_packets, 1) + 1,
		   nsbpf_wire_bytes(skb));
	nsbpf_slice(TCP_RECV_IP_START);
	return 0;
}

/*
 * Packets may arrive as a list: then the stack has started on all of them before TCP gets the
 * first.
 */
SEC("tp_btf/tcp_probe")
int BPF_PROG(tcp_recv_tcp_probe, const struct sock *sk, const struct sk_buff *skb)
{
	struct nsbpf_recv_way *here = nsbpf_recv_way_here();

	if (!here || !nsbpf_passes_tcp_socket(sk))
		return 0;
	if (here->stage == NSBPF_IN_IP && here->skb == (__u64)skb) {
		nsbpf_slice(TCP_RECV_IP_STOP);
	} else {
		nsbpf_leave(here);
		here->has_unit = 0;
	}
	here->skb = (__u64)skb;
	here->stage = NSBPF_IN_TCP;
	nsbpf_slice(TCP_RECV_TCP_START);
	return 0;
}

#define NSBPF_LEAVES(tracepoint)                                        \
	SEC("tp_btf/" #tracepoint)                                      \
	int BPF_PROG(tcp_recv_##tracepoint)                             \
	{                                                               \
		nsbpf_leave(nsbpf_recv_way_here());                     \
		return 0;                                               \
	}

NSBPF_LEAVES(napi_poll)
NSBPF_LEAVES(netif_receive_skb_exit)
NSBPF_LEAVES(softirq_exit)

#define NSBPF_RELEASES(tracepoint)                                      \
	SEC("tp_btf/" #tracepoint)                                      \
	int BPF_PROG(tcp_recv_##tracepoint, const struct sk_buff *skb)  \
	{                                                               \
		struct nsbpf_recv_way *here = nsbpf_recv_way_here();    \
                                                                        \
		if (here && here->skb == (__u64)skb)                    \
			nsbpf_leave(here);                              \
		return 0;                                               \
	}

NSBPF_RELEASES(kfree_skb)
NSBPF_RELEASES(consume_skb)

SEC("tp_btf/sk_data_ready")
int BPF_PROG(tcp_recv_sk_data_ready, const struct sock *sk)
{
	if (nsbpf_passes_tcp_socket(sk))
		nsbpf_mark(TCP_RECV_READY, 1);
	return 0;
}

static __always_inline bool nsbpf_is_receive(long number)
{
	switch (number) {
	case __NR_read:
	case __NR_readv:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
		return true;
	default:
		return false;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(tcp_recv_sys_enter, const struct pt_regs *regs, long number)
{
	if (nsbpf_is_receive(number) && nsbpf_call_begin(nsbpf_recv_calls, regs))
		nsbpf_slice(TCP_RECV_CALL_START);
	return 0;
}

static __always_inline void nsbpf_end_copy(struct nsbpf_call *call)
{
	if (!call || !call->is_span)
		return;
	call->is_span = 0;
	nsbpf_slice(TCP_RECV_COPY_STOP);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(tcp_recv_sys_exit)
{
	struct nsbpf_call *call = nsbpf_call_of_current(nsbpf_recv_calls);

	if (!call)
		return 0;
	nsbpf_end_copy(call);
	nsbpf_call_end(call);
	nsbpf_slice(TCP_RECV_CALL_STOP);
	return 0;
}

SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(tcp_recv_skb_copy_datagram_iovec, const struct sk_buff *skb, int bytes)
{
	struct nsbpf_call *call = nsbpf_call_of_current(nsbpf_recv_calls);

	if (!call)
		return 0;
	nsbpf_end_copy(call);
	call->is_span = 1;
	nsbpf_slice(TCP_RECV_COPY_START);
	nsbpf_mark(TCP_RECV_COPIED, bytes);
	return 0;
}

SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(tcp_recv_tcp_rcv_space_adjust)
{
	nsbpf_end_copy(nsbpf_call_of_current(nsbpf_recv_calls));
	return 0;
}
