/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Packet headers -> whether they have the port; an entry's verdict -> the same at its exit. */
#ifndef NSBPF_FILTER_H
#define NSBPF_FILTER_H

#include <bpf/bpf_endian.h>

#include "writer.h"

#define NSBPF_ETH_IPV4 0x0800
#define NSBPF_ETH_IPV6 0x86dd
#define NSBPF_INET 2
#define NSBPF_INET6 10
#define NSBPF_EXTENSIONS 8 /* headers between IPv6 and the transport */

enum { NSBPF_TCP = 6, NSBPF_UDP = 17, NSBPF_DCCP = 33, NSBPF_SCTP = 132 };

static __always_inline bool nsbpf_reads(const struct sk_buff *skb, __u32 offset, void *to,
					__u32 bytes)
{
	return bpf_probe_read_kernel(to, bytes, skb->head + offset) == 0;
}

/* The headers of TCP, UDP, SCTP and DCCP begin with both ports. */
static __always_inline bool nsbpf_has_port(const struct sk_buff *skb, __u32 offset, __u8 protocol,
					   bool is_tcp)
{
	__be16 ports[2];

	const bool has_ports = protocol == NSBPF_UDP || protocol == NSBPF_SCTP ||
			       protocol == NSBPF_DCCP;

	if (protocol != NSBPF_TCP && (is_tcp || !has_ports))
		return false;
	if (!nsbpf_port)
		return true;
	return nsbpf_reads(skb, offset, ports, sizeof(ports)) &&
	       (bpf_ntohs(ports[0]) == nsbpf_port || bpf_ntohs(ports[1]) == nsbpf_port);
}

static __always_inline bool nsbpf_matches_v4(const struct sk_buff *skb, __u32 offset, bool is_tcp)
{
	__u8 ip[20];

	if (!nsbpf_reads(skb, offset, ip, sizeof(ip)) || ip[0] >> 4 != 4 || (ip[0] & 15) < 5)
		return false;
	if ((ip[6] & 0x1f) || ip[7]) /* a later fragment */
		return false;
	return nsbpf_has_port(skb, offset + (ip[0] & 15) * 4, ip[9], is_tcp);
}

/* Of an IPv6 extension header; 0: it is none. */
static __always_inline __u32 nsbpf_extension_bytes(__u8 kind, const __u8 *head)
{
	switch (kind) {
	case 0: case 43: case 60: /* hop by hop, routing, destination options */
		return 8 + 8 * (__u32)head[1];
	case 44: /* fragment */
		return 8;
	case 51: /* authentication */
		return 8 + 4 * (__u32)head[1];
	default:
		return 0;
	}
}

static __always_inline bool nsbpf_matches_v6(const struct sk_buff *skb, __u32 offset, bool is_tcp)
{
	__u8 ip[40], head[8], kind;
	int i;

	if (!nsbpf_reads(skb, offset, ip, sizeof(ip)) || ip[0] >> 4 != 6)
		return false;
	kind = ip[6];
	offset += sizeof(ip);
	for (i = 0; i < NSBPF_EXTENSIONS; ++i) {
		__u32 bytes;

		if (!nsbpf_reads(skb, offset, head, sizeof(head)))
			return false;
		bytes = nsbpf_extension_bytes(kind, head);
		if (!bytes)
			break;
		if (kind == 44 && (head[2] || head[3] & 0xf8))
			return false;
		kind = head[0];
		offset += bytes;
	}
	return nsbpf_has_port(skb, offset, kind, is_tcp);
}

/*
 * A packet from a driver has no network header before the stack has seen it: it begins with that.
 */
static __always_inline bool nsbpf_matches(const struct sk_buff *skb, bool is_tcp)
{
	const __u32 offset = skb->network_header ? skb->network_header
						 : (__u32)(skb->data - skb->head);

	switch (bpf_ntohs(skb->protocol)) {
	case NSBPF_ETH_IPV4:
		return nsbpf_matches_v4(skb, offset, is_tcp);
	case NSBPF_ETH_IPV6:
		return nsbpf_matches_v6(skb, offset, is_tcp);
	default:
		return false;
	}
}

static __always_inline bool nsbpf_passes_packet(const struct sk_buff *skb)
{
	return !nsbpf_port || nsbpf_matches(skb, false);
}

static __always_inline bool nsbpf_passes_tcp(const struct sk_buff *skb)
{
	return nsbpf_matches(skb, true);
}

static __always_inline bool nsbpf_passes_tcp_socket(const struct sock *sk)
{
	const __u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (BPF_CORE_READ(sk, sk_protocol) != NSBPF_TCP ||
	    (family != NSBPF_INET && family != NSBPF_INET6))
		return false;
	return !nsbpf_port || BPF_CORE_READ(sk, __sk_common.skc_num) == nsbpf_port ||
	       bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)) == nsbpf_port;
}

/*
 * The exit tracepoint does not have the packet of its entry.  Whether an entry passed the filter is
 * kept in a bit until its exit; beyond a depth of 64 no entry passes.  Entries and exits of one
 * tracepoint nest on a CPU.
 */
struct nsbpf_passed {
	__u64 bits;
	__u32 depth;
};

enum nsbpf_passage {
	NSBPF_PASSED_GRO_RECEIVE, NSBPF_PASSED_GRO_FRAGS, NSBPF_PASSED_RECEIVE, NSBPF_PASSED_LIST,
	NSBPF_PASSED_RX, NSBPF_PASSED_XMIT, NSBPF_PASSED_TCP_GRO, NSBPF_PASSAGES,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NSBPF_PASSAGES);
	__type(key, __u32);
	__type(value, struct nsbpf_passed);
} nsbpf_passages SEC(".maps");

static __always_inline struct nsbpf_passed *nsbpf_passed_here(__u32 passage)
{
	return bpf_map_lookup_elem(&nsbpf_passages, &passage);
}

static __always_inline bool nsbpf_entry_passes(enum nsbpf_passage passage, bool passes)
{
	struct nsbpf_passed *passed = nsbpf_passed_here(passage);

	if (!passed)
		return false;
	passed->bits = passed->bits << 1 | (passes && passed->depth < 64);
	++passed->depth;
	return passed->bits & 1;
}

static __always_inline bool nsbpf_exit_passes(enum nsbpf_passage passage)
{
	struct nsbpf_passed *passed = nsbpf_passed_here(passage);
	bool passes;

	if (!passed || passed->depth == 0) /* the entry was before the programs were attached */
		return false;
	passes = passed->bits & 1;
	passed->bits >>= 1;
	--passed->depth;
	return passes;
}

#endif /* NSBPF_FILTER_H */
