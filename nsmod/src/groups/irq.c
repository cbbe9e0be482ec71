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
static void vector(void *point, int number)
{
	nsmod_point_slice(point);
}

#define ENTRY(vector_, slice_, says_) NSMOD_START(#vector_ "_entry", vector, slice_, says_, .flags = NSLICE_SITE_INTERRUPT)
#define EXIT(vector_, slice_) NSMOD_STOP(#vector_ "_exit", vector, slice_, "the handler returns", .flags = NSLICE_SITE_INTERRUPT)
#endif

static struct nsmod_point points[] = {
	NSMOD_START("irq_handler_entry", handler_entry, "irq", "a handler begins", .flags = NSLICE_SITE_INTERRUPT),
	NSMOD_MARK("irq_handler_entry", number, "irq_number", "the interrupt's number"),
	NSMOD_STOP("irq_handler_exit", handler_exit, "irq", "the handler returns", .flags = NSLICE_SITE_INTERRUPT),
#ifdef CONFIG_X86_LOCAL_APIC
	ENTRY(local_timer, "local_timer", "the CPU's own timer"),
	EXIT(local_timer, "local_timer"),
	ENTRY(reschedule, "reschedule", "another CPU requested a reschedule"),
	EXIT(reschedule, "reschedule"),
	ENTRY(call_function, "call_function", "a function call requested on all CPUs"),
	EXIT(call_function, "call_function"),
	ENTRY(call_function_single, "call_function", "a function call requested on this CPU"),
	EXIT(call_function_single, "call_function"),
	ENTRY(irq_work, "irq_work", "work deferred by an interrupt or NMI"),
	EXIT(irq_work, "irq_work"),
#endif
};

NSMOD_GROUP(nsmod_group_irq, "irq", "hard interrupts", points);
