// SPDX-License-Identifier: (GPL-2.0 OR MIT)
/*
 * An XDP program with probes: drops IPv4/UDP packets to ports in a table.  Each packet is a unit
 * `packet` with the slices `parse` and, if it has a port, `lookup`, and the mark `port`.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <nslice/bpf.h>

/* Port -> packets dropped. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u16);
	__type(value, __u64);
} blocked SEC(".maps");

__u64 recorded;

/* The destination port; 0: not a whole UDP packet without IP options. */
static __always_inline __u16 read_port(const struct xdp_md *context)
{
	const void *end = (void *)(long)context->data_end;
	const struct ethhdr *eth = (void *)(long)context->data;
	const struct iphdr *ip = (void *)(eth + 1);
	const struct udphdr *udp = (void *)(ip + 1);

	if ((void *)(udp + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP || (ip->frag_off & bpf_htons(0x1fff)))
		return 0;
	return bpf_ntohs(udp->dest);
}

SEC("xdp")
int xdp_ports(struct xdp_md *context)
{
	__u64 *dropped = NULL;
	__u16 port;

	/* Arguments are evaluated only while somebody records. */
	NET_SLICE_INIT(packet, __sync_fetch_and_add(&recorded, 1), 1,
		       context->data_end - context->data);

	NET_SLICE_START(parse);
	port = read_port(context);
	NET_SLICE_STOP(parse);

	if (port) {
		NET_SLICE_MARK(port, port);
		NET_SLICE_START(lookup);
		dropped = bpf_map_lookup_elem(&blocked, &port);
		NET_SLICE_STOP(lookup);
	}
	if (dropped)
		__sync_fetch_and_add(dropped, 1);
	NET_SLICE_EXIT(packet);
	return dropped ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
