// SPDX-License-Identifier: GPL-2.0
/* net_tx: packets from the device queue to the driver. */
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "groups/points.h"

static DEFINE_PER_CPU(struct nsmod_passed, xmit);

static void queued(void *point, struct sk_buff *skb)
{
	if (nsmod_passes_packet(skb))
		nsmod_point_mark(point, skb->len);
}

static void start_xmit(void *point, const struct sk_buff *skb, const struct net_device *device)
{
	if (nsmod_entry_passes(&xmit, nsmod_passes_packet(skb)))
		nsmod_point_slice(point);
}

/* The packet may have been freed by now. */
static void end_xmit(void *point, struct sk_buff *skb, int code, struct net_device *device, unsigned int bytes)
{
	if (nsmod_exit_passes(&xmit))
		nsmod_point_slice(point);
}

enum { NSLICE_POINTS_NET_TX(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_NET_TX(NSMOD_POINT) };

NSMOD_GROUP(net_tx);
