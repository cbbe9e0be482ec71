// SPDX-License-Identifier: GPL-2.0
/*
 * irq: hard interrupt handlers, from the kernel's call to their return.
 *
 * On x86 the CPU's own interrupts (timer, calls by other CPUs) do not pass
 * through irq_handler_entry and have tracepoints of their own.
 */
#include <linux/interrupt.h>

#include "groups/points.h"

static void handler_entry(void *point, int irq, struct irqaction *action)
{
	nsmod_point_slice(point);
}

static void handler_exit(void *point, int irq, struct irqaction *action, int ret)
{
	nsmod_point_slice(point);
}

static void number(void *point, int irq, struct irqaction *action)
{
	nsmod_point_mark(point, irq);
}

#ifdef CONFIG_X86_LOCAL_APIC
#define NSLICE_POINTS_IRQ(POINT) NSLICE_POINTS_IRQ_ALL(POINT) NSLICE_POINTS_IRQ_X86(POINT)

#define VECTOR(vector)                                    \
	static void vector(void *point, int number)       \
	{                                                 \
		nsmod_point_slice(point);                 \
	}

VECTOR(local_timer)
VECTOR(reschedule)
VECTOR(call_function)
VECTOR(call_function_single)
VECTOR(irq_work)
#else
#define NSLICE_POINTS_IRQ(POINT) NSLICE_POINTS_IRQ_ALL(POINT)
#endif

enum { NSLICE_POINTS_IRQ(NSMOD_POINT_ID) };
static struct nsmod_point points[] = { NSLICE_POINTS_IRQ(NSMOD_POINT) };

NSMOD_GROUP(irq);
