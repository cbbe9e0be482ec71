/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* net_rx, net_tx, napi, sock: packets between drivers, the stack and sockets. */
#define NSBPF_ENTRY_AND_EXIT(tracepoint, passage, point)                              \
	SEC("tp_btf/" #tracepoint "_entry")                                           \
	int BPF_PROG(net_rx_##tracepoint##_entry, const struct sk_buff *skb)          \
	{                                                                             \
		if (nsbpf_entry_passes(passage, nsbpf_passes_packet(skb)))            \
			nsbpf_slice(point##_START);                                   \
		return 0;                                                             \
	}                                                                             \
	SEC("tp_btf/" #tracepoint "_exit")                                            \
	int BPF_PROG(net_rx_##tracepoint##_exit)                                      \
	{                                                                             \
		if (nsbpf_exit_passes(passage))                                       \
			nsbpf_slice(point##_STOP);                                    \
		return 0;                                                             \
	}

NSBPF_ENTRY_AND_EXIT(napi_gro_receive, NSBPF_PASSED_GRO_RECEIVE, NET_RX_GRO)
NSBPF_ENTRY_AND_EXIT(napi_gro_frags, NSBPF_PASSED_GRO_FRAGS, NET_RX_FRAGS)
NSBPF_ENTRY_AND_EXIT(netif_receive_skb, NSBPF_PASSED_RECEIVE, NET_RX_RECEIVE)
NSBPF_ENTRY_AND_EXIT(netif_rx, NSBPF_PASSED_RX, NET_RX_RX)

/* One entry per packet, one exit per list: the first packet that passes starts the slice. */
SEC("tp_btf/netif_receive_skb_list_entry")
int BPF_PROG(net_rx_netif_receive_skb_list_entry, const struct sk_buff *skb)
{
	struct nsbpf_passed *here = nsbpf_passed_here(NSBPF_PASSED_LIST);

	if (!here || here->depth > 0 || !nsbpf_passes_packet(skb))
		return 0;
	here->depth = 1;
	nsbpf_slice(NET_RX_LIST_START);
	return 0;
}

SEC("tp_btf/netif_receive_skb_list_exit")
int BPF_PROG(net_rx_netif_receive_skb_list_exit)
{
	struct nsbpf_passed *here = nsbpf_passed_here(NSBPF_PASSED_LIST);

	if (!here)
		return 0;
	if (here->depth > 0)
		nsbpf_slice(NET_RX_LIST_STOP);
	here->depth = 0;
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(net_rx_netif_receive_skb, const struct sk_buff *skb)
{
	if (nsbpf_passes_packet(skb))
		nsbpf_mark(NET_RX_BYTES, skb->len);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_tx_net_dev_queue, const struct sk_buff *skb)
{
	if (nsbpf_passes_packet(skb))
		nsbpf_mark(NET_TX_BYTES, skb->len);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_tx_net_dev_start_xmit, const struct sk_buff *skb)
{
	if (nsbpf_entry_passes(NSBPF_PASSED_XMIT, nsbpf_passes_packet(skb)))
		nsbpf_slice(NET_TX_XMIT_START);
	return 0;
}

/* The packet may have been freed by now. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(net_tx_net_dev_xmit)
{
	if (nsbpf_exit_passes(NSBPF_PASSED_XMIT))
		nsbpf_slice(NET_TX_XMIT_STOP);
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(napi_napi_poll, void *napi, int work)
{
	nsbpf_mark(NAPI_WORK, work);
	return 0;
}

SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(sock_skb_copy_datagram_iovec, const struct sk_buff *skb, int bytes)
{
	if (nsbpf_passes_packet(skb))
		nsbpf_mark(SOCK_COPY, bytes);
	return 0;
}

SEC("tp_btf/consume_skb")
int BPF_PROG(sock_consume_skb, const struct sk_buff *skb)
{
	if (nsbpf_passes_packet(skb))
		nsbpf_mark(SOCK_CONSUME, skb->len);
	return 0;
}
