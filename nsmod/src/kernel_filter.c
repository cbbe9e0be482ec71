// SPDX-License-Identifier: GPL-2.0
/* Packet headers -> does it have the port?  A number -> which process is it?   Headers are read by skb_header_pointer(): hostile packets are short and fragmented. */
#include "kernel_filter.h"

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

struct nsmod_kernel_filter nsmod_kernel_filter;

/* Number of a process in the caller's pid namespace -> the kernel's own.  0: there is none. */
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

/* TCP, UDP, SCTP and DCCP begin with both ports. */
static bool has_port(const struct sk_buff *skb, int offset, u8 protocol)
{
	__be16 buffer[2];
	const __be16 *ports;

	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP && protocol != IPPROTO_SCTP && protocol != IPPROTO_DCCP)
		return false;
	if (nsmod_kernel_filter.protocol && nsmod_kernel_filter.protocol != protocol)
		return false;
	ports = skb_header_pointer(skb, offset, sizeof(buffer), buffer);
	return ports && (ntohs(ports[0]) == nsmod_kernel_filter.port || ntohs(ports[1]) == nsmod_kernel_filter.port);
}

static bool matches_v4(const struct sk_buff *skb, int offset)
{
	struct iphdr buffer;
	const struct iphdr *ip = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);

	if (!ip || ip->version != 4 || ip->ihl < 5 || (ip->frag_off & htons(IP_OFFSET)))
		return false;
	return has_port(skb, offset + ip->ihl * 4, ip->protocol);
}

static bool matches_v6(const struct sk_buff *skb, int offset)
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
	return end >= 0 && !(fragment & htons(IP6_OFFSET)) && has_port(skb, end, protocol);
}

bool nsmod_kernel_filter_matches(const struct sk_buff *skb)
{
	/* Before the stack has looked at a packet its network header is where its data begin, behind tags. */
	const int offset = skb_network_offset(skb);

	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return matches_v4(skb, offset);
	case htons(ETH_P_IPV6):
		return matches_v6(skb, offset);
	default:
		return false;
	}
}
