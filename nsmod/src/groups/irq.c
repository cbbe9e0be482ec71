// SPDX-License-Identifier: GPL-2.0
/*
 * irq: hard interrupt handlers, from the kernel's call to their return.
 *
 * On x86 those of the CPU's own interrupts (timer, calls by other CPUs) go past
 * irq_handler_entry and have tracepoints of their own.
 */
#include <linux/interrupt.h>

#include "points.h"

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
#define EXIT(vector_, slice_) NSMOD_STOP(#vector_ "_exit", vector, slice_, "it has returned", .flags = NSLICE_SITE_INTERRUPT)
#endif

static struct nsmod_point points[] = {
	NSMOD_START("irq_handler_entry", handler_entry, "irq", "a handler begins", .flags = NSLICE_SITE_INTERRUPT),
	NSMOD_MARK("irq_handler_entry", number, "irq_number", "its interrupt's number"),
	NSMOD_STOP("irq_handler_exit", handler_exit, "irq", "it has returned", .flags = NSLICE_SITE_INTERRUPT),
#ifdef CONFIG_X86_LOCAL_APIC
	ENTRY(local_timer, "local_timer", "the CPU's own timer"),
	EXIT(local_timer, "local_timer"),
	ENTRY(reschedule, "reschedule", "another CPU has woken somebody here"),
	EXIT(reschedule, "reschedule"),
	ENTRY(call_function, "call_function", "another CPU has all CPUs call a function"),
	EXIT(call_function, "call_function"),
	ENTRY(call_function_single, "call_function", "another CPU has this one call a function"),
	EXIT(call_function_single, "call_function"),
	ENTRY(irq_work, "irq_work", "work that an interrupt or NMI had put off"),
	EXIT(irq_work, "irq_work"),
#endif
};

NSMOD_GROUP(nsmod_group_irq, "irq", "hard interrupts", points);
