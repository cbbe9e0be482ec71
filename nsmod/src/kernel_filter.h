/* SPDX-License-Identifier: GPL-2.0 */
/* Which records the groups write: all, or those of packets with a port, of a protocol. */
#ifndef NSMOD_KERNEL_FILTER_H
#define NSMOD_KERNEL_FILTER_H

#include <linux/types.h>

#include <nslice/control.h>

struct sk_buff;

/* Zeros: everything.  Set before the groups are attached, constant while they are. */
struct nsmod_kernel_filter {
	u16 port;
	u8 protocol;
};

extern struct nsmod_kernel_filter nsmod_kernel_filter;

void nsmod_kernel_filter_set(const struct nslice_kernel_request *request);

/* INFO lines.  Bytes written. */
size_t nsmod_kernel_filter_text(char *text, size_t room);

/* Whether the packet's headers say port and protocol; any context. */
bool nsmod_kernel_filter_matches(const struct sk_buff *skb);

static inline bool nsmod_passes_packet(const struct sk_buff *skb)
{
	return !nsmod_kernel_filter.port || nsmod_kernel_filter_matches(skb);
}

#endif /* NSMOD_KERNEL_FILTER_H */
