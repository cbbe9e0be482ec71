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

enum { NSLICE_POINTS_SOCK(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_SOCK(NSMOD_POINT) };

NSMOD_GROUP(sock);
