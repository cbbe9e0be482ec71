// SPDX-License-Identifier: GPL-2.0
/*
 * The module's macros, with and without a recorder: the measurement records the
 * kernel itself and discards the records.  It is refused during a recording,
 * because its records would appear in that trace.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>

#include <nslice/kernel.h>

#include "chunks/output.h"
#include "measure/measure.h"
#include "request.h"
#include "trace/kernel_part.h"

#define RING_BYTES BIT(20)
#define OUTPUT_BYTES (64ull << 20) /* more than the rings can hold */

/* Used under measure.c's lock by the measuring process. */
static struct nsmod_kernel_part part;
static struct nsmod_output output;

#define LOOP(name_, macros_)                        \
	static noinline void name_(u32 times)       \
	{                                           \
		u32 i;                              \
							    \
		for (i = 0; i < times; ++i) {       \
			macros_;                    \
			barrier();                  \
		}                                   \
	}

LOOP(pair, NET_SLICE_START(measured); NET_SLICE_STOP(measured))
LOOP(start, NET_SLICE_START(measured))
LOOP(stop, NET_SLICE_STOP(measured))
LOOP(mark, NET_SLICE_MARK(measured, i))
LOOP(init, NET_SLICE_INIT(measured, i, 1, 64))
LOOP(unit_exit, NET_SLICE_EXIT(measured))

static bool is_recorded(void)
{
	return static_key_enabled(&nslice_kernel_key);
}

static const char *begin_idle(void)
{
	return is_recorded() ? "the kernel is being recorded" : NULL;
}

const struct nsmod_measured nsmod_measured_idle_macros[] = {
	{ "idle START+STOP", pair, begin_idle }, { "idle START", start, begin_idle }, { "idle STOP", stop, begin_idle },
	{ "idle MARK", mark, begin_idle }, { "idle INIT", init, begin_idle }, { "idle EXIT", unit_exit, begin_idle },
};

const struct nsmod_measured nsmod_measured_macros[] = {
	{ "START+STOP", pair }, { "START", start }, { "STOP", stop }, { "MARK", mark }, { "INIT", init }, { "EXIT", unit_exit },
};

const u32 nsmod_measured_macros_count = ARRAY_SIZE(nsmod_measured_macros);
static_assert(ARRAY_SIZE(nsmod_measured_idle_macros) == ARRAY_SIZE(nsmod_measured_macros));

const char *nsmod_measure_macros_begin(void)
{
	static char no_groups[] = "";
	const struct nsmod_kernel_request request = {
		.fixed = { .size = sizeof(request.fixed), .full = NSLICE_FULL_DISCARD, .ring_bytes = RING_BYTES },
		.groups = no_groups,
	};
	int err;

	nsmod_output_init(&output, OUTPUT_BYTES);
	err = nsmod_kernel_part_start(&part, &request, &output);
	if (!err)
		return NULL;
	nsmod_output_destroy(&output);
	return err == -EBUSY ? "the kernel is being recorded" : "no memory";
}

void nsmod_measure_macros_drain(void)
{
	while (nsmod_kernel_part_pass(&part, &output) > 0)
		;
	nsmod_output_destroy(&output);
	nsmod_output_init(&output, OUTPUT_BYTES);
}

void nsmod_measure_macros_end(void)
{
	nsmod_kernel_part_destroy(&part);
	nsmod_output_destroy(&output);
}
