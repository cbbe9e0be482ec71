// SPDX-License-Identifier: GPL-2.0
/* The table of counter registers that counter_register.h jumps into.  Result: x17; nothing else changes. */
#include <linux/linkage.h>
#include <linux/stringify.h>

asm(".pushsection .text\n"
	".p2align 4\n"
	".globl nsmod_counter_registers\n"
	".type nsmod_counter_registers, %function\n"
	"nsmod_counter_registers:\n\t"
	".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30\n\t"
	"hint #34\n\t" /* bti c */
	"mrs x17, pmevcntr\\n\\()_el0\n\t"
	"ret\n\t"
	"nop\n\t"
	".endr\n\t"
	"hint #34\n\t"
	"mrs x17, pmccntr_el0\n\t"
	"ret\n\t"
	"nop\n\t"
	".size nsmod_counter_registers, . - nsmod_counter_registers\n"
	".popsection\n");
