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

static struct nsmod_point points[] = {
	NSMOD_MARK("net_dev_queue", queued, "tx_bytes", "a packet reaches a device's queue: its length"),
	NSMOD_START("net_dev_start_xmit", start_xmit, "xmit", "a packet is passed to the driver"),
	NSMOD_STOP("net_dev_xmit", end_xmit, "xmit", "the driver returns"),
};

NSMOD_GROUP(nsmod_group_net_tx, "net_tx", "packets sent", points);
