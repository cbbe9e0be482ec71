// SPDX-License-Identifier: GPL-2.0
/*
 * Packet headers -> whether they have the port.  Number -> process.  Headers are
 * read by skb_header_pointer(), because packets may be truncated and fragmented.
 */
#include "groups/kernel_filter.h"

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>

struct nsmod_kernel_filter nsmod_kernel_filter;

/* Process id in the caller's pid namespace -> in the initial one.  0: no such process. */
static pid_t process_of(u32 number)
{
	struct pid *pid;
	pid_t process = 0;

	if (number > INT_MAX)
		return 0;
	rcu_read_lock();
	pid = find_vpid(number);
	if (pid && pid_task(pid, PIDTYPE_TGID))
		process = pid_nr(pid);
	rcu_read_unlock();
	return process;
}

int nsmod_kernel_filter_set(const struct nslice_kernel_request *request)
{
	nsmod_kernel_filter.port = request->port;
	nsmod_kernel_filter.protocol = request->protocol;
	nsmod_kernel_filter.process = request->pid ? process_of(request->pid) : 0;
	return request->pid && !nsmod_kernel_filter.process ? -ESRCH : 0;
}

size_t nsmod_kernel_filter_text(char *text, size_t room)
{
	size_t at = 0;

	if (nsmod_kernel_filter.port)
		at += scnprintf(text + at, room - at, "kernel.filter.port=%u\n", nsmod_kernel_filter.port);
	if (nsmod_kernel_filter.protocol)
		at += scnprintf(text + at, room - at, "kernel.filter.protocol=%u\n", nsmod_kernel_filter.protocol);
	if (nsmod_kernel_filter.process)
		at += scnprintf(text + at, room - at, "kernel.filter.pid=%d\n", nsmod_kernel_filter.process);
	return at;
}

/* What a packet must match: the filter, or the filter's port and TCP. */
struct wanted {
	u16 port; /* 0: any */
	u8 protocol;
};

/* The headers of TCP, UDP, SCTP and DCCP begin with both ports. */
static bool has_port(const struct sk_buff *skb, int offset, u8 protocol, struct wanted wanted)
{
	__be16 buffer[2];
	const __be16 *ports;

	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP && protocol != IPPROTO_SCTP && protocol != IPPROTO_DCCP)
		return false;
	if (wanted.protocol && wanted.protocol != protocol)
		return false;
	if (!wanted.port)
		return true;
	ports = skb_header_pointer(skb, offset, sizeof(buffer), buffer);
	return ports && (ntohs(ports[0]) == wanted.port || ntohs(ports[1]) == wanted.port);
}

static bool matches_v4(const struct sk_buff *skb, int offset, struct wanted wanted)
{
	struct iphdr buffer;
	const struct iphdr *ip = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);

	if (!ip || ip->version != 4 || ip->ihl < 5 || (ip->frag_off & htons(IP_OFFSET)))
		return false;
	return has_port(skb, offset + ip->ihl * 4, ip->protocol, wanted);
}

static bool matches_v6(const struct sk_buff *skb, int offset, struct wanted wanted)
{
	struct ipv6hdr buffer;
	const struct ipv6hdr *ip = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	__be16 fragment;
	u8 protocol;
	int end;

	if (!ip || ip->version != 6)
		return false;
	protocol = ip->nexthdr;
	end = ipv6_skip_exthdr(skb, offset + sizeof(*ip), &protocol, &fragment);
	return end >= 0 && !(fragment & htons(IP6_OFFSET)) && has_port(skb, end, protocol, wanted);
}

static bool matches(const struct sk_buff *skb, struct wanted wanted)
{
	/*
	 * A packet from a driver has no network header before the stack has
	 * seen it; the header is where the data begin.
	 */
	const int offset = skb->network_header ? skb_network_offset(skb) : 0;

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return matches_v4(skb, offset, wanted);
	case htons(ETH_P_IPV6):
		return matches_v6(skb, offset, wanted);
	default:
		return false;
	}
}

bool nsmod_kernel_filter_matches(const struct sk_buff *skb)
{
	return matches(skb, (struct wanted){ .port = nsmod_kernel_filter.port, .protocol = nsmod_kernel_filter.protocol });
}

bool nsmod_passes_tcp(const struct sk_buff *skb)
{
	return matches(skb, (struct wanted){ .port = nsmod_kernel_filter.port, .protocol = IPPROTO_TCP });
}

bool nsmod_passes_tcp_socket(const struct sock *sk)
{
	const u16 port = nsmod_kernel_filter.port;

	if (sk->sk_protocol != IPPROTO_TCP || (sk->sk_family != AF_INET && sk->sk_family != AF_INET6))
		return false;
	return !port || READ_ONCE(sk->sk_num) == port || ntohs(READ_ONCE(sk->sk_dport)) == port;
}
