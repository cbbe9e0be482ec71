// SPDX-License-Identifier: GPL-2.0
/* sock: packets between sockets and the programs that read them. */
#include <linux/skbuff.h>

#include "compat.h"
#include "groups/points.h"

static void copied(void *point, const struct sk_buff *skb, int bytes)
{
	if (nsmod_passes_packet(skb))
		nsmod_point_mark(point, bytes);
}

static void consumed(void *point, struct sk_buff *skb NSMOD_CONSUME_SKB_LOCATION)
{
	if (nsmod_passes_packet(skb))
		nsmod_point_mark(point, skb->len);
}

static struct nsmod_point points[] = {
	NSMOD_MARK("skb_copy_datagram_iovec", copied, "copy_to_user", "data of a packet are copied to a program: bytes"),
	NSMOD_MARK("consume_skb", consumed, "consume_skb", "a packet was consumed: its length"),
};

NSMOD_GROUP(nsmod_group_sock, "sock", "socket reads, packets consumed", points);
