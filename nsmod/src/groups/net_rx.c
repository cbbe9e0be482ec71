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

enum { NSLICE_POINTS_NET_RX(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_NET_RX(NSMOD_POINT) };

NSMOD_GROUP(net_rx);
