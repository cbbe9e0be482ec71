// SPDX-License-Identifier: GPL-2.0
/*
 * nsmod_example: a module with an annotated function.
 *
 *	echo 1000 >/sys/module/nsmod_example/parameters/run
 *
 * creates that many packets in memory and checks them, in the context of the
 * writing process.  Each is a unit `packet` with a slice `handle`, which
 * contains the slices `fill` and `check` and the MARK `checksum`.  Without a
 * recorder the probes are nops.
 */
#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <nslice/kernel.h>

#define PACKET_BYTES 1500

static noinline u32 handle_packet(u8 *packet, u32 number)
{
	u32 checksum;

	NET_SLICE_INIT(packet, number, 1, PACKET_BYTES);
	NET_SLICE_START(handle);

	NET_SLICE_START(fill);
	memset(packet, (u8)number, PACKET_BYTES);
	NET_SLICE_STOP(fill);

	NET_SLICE_START(check);
	checksum = crc32_le(~0, packet, PACKET_BYTES);
	NET_SLICE_STOP(check);
	NET_SLICE_MARK(checksum, checksum);

	NET_SLICE_STOP(handle);
	NET_SLICE_EXIT(packet);
	return checksum;
}

static int run(const char *text, const struct kernel_param *parameter)
{
	u32 count, number;
	u8 *packet;
	int err = kstrtou32(text, 0, &count);

	if (err)
		return err;
	packet = kmalloc(PACKET_BYTES, GFP_KERNEL);
	if (!packet)
		return -ENOMEM;
	for (number = 0; number < count && !err; ++number) {
		handle_packet(packet, number);
		cond_resched();
		if (signal_pending(current))
			err = -EINTR;
	}
	kfree(packet);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "write a number to create and check that many packets");

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The NetSlice maintainers");
MODULE_DESCRIPTION("NetSlice: a module that annotates its own function");
