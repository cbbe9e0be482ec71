// SPDX-License-Identifier: GPL-2.0
/* irq: hard interrupt handlers, from the kernel's call to their return. */
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

static struct nsmod_point points[] = {
	NSMOD_START("irq_handler_entry", handler_entry, "irq", "a handler begins", .flags = NSLICE_SITE_INTERRUPT),
	NSMOD_MARK("irq_handler_entry", number, "irq_number", "its interrupt's number"),
	NSMOD_STOP("irq_handler_exit", handler_exit, "irq", "it has returned", .flags = NSLICE_SITE_INTERRUPT),
};

NSMOD_GROUP(nsmod_group_irq, "irq", "hard interrupts", points);
