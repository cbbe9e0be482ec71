// SPDX-License-Identifier: GPL-2.0
/* net_rx: packets from the driver to the entry of the stack. */
#include <linux/skbuff.h>

#include "groups/points.h"

static DEFINE_PER_CPU(struct nsmod_passed, gro_receive);
static DEFINE_PER_CPU(struct nsmod_passed, gro_frags);
static DEFINE_PER_CPU(struct nsmod_passed, receive);
static DEFINE_PER_CPU(struct nsmod_passed, receive_list);
static DEFINE_PER_CPU(struct nsmod_passed, rx);

#define ENTRY_AND_EXIT(place)                                                  \
	static void place##_entry(void *point, const struct sk_buff *skb)      \
	{                                                                      \
		if (nsmod_entry_passes(&place, nsmod_passes_packet(skb)))      \
			nsmod_point_slice(point);                              \
	}                                                                      \
	static void place##_exit(void *point, int ret)                         \
	{                                                                      \
		if (nsmod_exit_passes(&place))                                 \
			nsmod_point_slice(point);                              \
	}

ENTRY_AND_EXIT(gro_receive)
ENTRY_AND_EXIT(gro_frags)
ENTRY_AND_EXIT(receive)
ENTRY_AND_EXIT(rx)

/* One entry per packet, one exit per list: the first packet that passes starts the slice. */
static void receive_list_entry(void *point, const struct sk_buff *skb)
{
	struct nsmod_passed *here = nsmod_passed_here(&receive_list);

	if (here->depth > 0 || !nsmod_passes_packet(skb))
		return;
	here->depth = 1;
	nsmod_point_slice(point);
}

static void receive_list_exit(void *point, int ret)
{
	struct nsmod_passed *here = nsmod_passed_here(&receive_list);

	if (here->depth > 0)
		nsmod_point_slice(point);
	here->depth = 0;
}

static void length(void *point, struct sk_buff *skb)
{
	if (nsmod_passes_packet(skb))
		nsmod_point_mark(point, skb->len);
}

static struct nsmod_point points[] = {
	NSMOD_START("napi_gro_receive_entry", gro_receive_entry, "napi_gro_receive", "a driver passes a packet to GRO"),
	NSMOD_STOP("napi_gro_receive_exit", gro_receive_exit, "napi_gro_receive", "it was merged or passed on"),
	NSMOD_START("napi_gro_frags_entry", gro_frags_entry, "napi_gro_frags", "the same for a packet of page fragments"),
	NSMOD_STOP("napi_gro_frags_exit", gro_frags_exit, "napi_gro_frags", "it was merged or passed on"),
	NSMOD_START("netif_receive_skb_entry", receive_entry, "netif_receive_skb", "a packet enters the stack"),
	NSMOD_STOP("netif_receive_skb_exit", receive_exit, "netif_receive_skb", "the stack returns"),
	NSMOD_START("netif_receive_skb_list_entry", receive_list_entry, "netif_receive_skb_list", "a list of packets enters the stack"),
	NSMOD_STOP("netif_receive_skb_list_exit", receive_list_exit, "netif_receive_skb_list", "the stack returns"),
	NSMOD_START("netif_rx_entry", rx_entry, "netif_rx", "a packet is queued in a CPU's backlog"),
	NSMOD_STOP("netif_rx_exit", rx_exit, "netif_rx", "it was queued or dropped"),
	NSMOD_MARK("netif_receive_skb", length, "rx_bytes", "length of a packet that enters the stack"),
};

NSMOD_GROUP(nsmod_group_net_rx, "net_rx", "packets received", points);
