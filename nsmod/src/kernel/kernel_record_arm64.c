// SPDX-License-Identifier: GPL-2.0
/*
 * A record on arm64 in as few instructions as possible: no frame, no saved
 * registers, one path.  Uncommon cases continue in C.
 *
 *	site = the address after the branch that is returned to
 *	if (fenced or counted) C
 *	if (!site.bits) C                            -- first use, or off
 *	head = ring.head, exclusively                -- an interrupt from here on makes the store below fail
 *	if (ring.limit - (head + words) < 0) C
 *	ticks = clock                                -- so that ticks increase within a ring
 *	ring.head = head + step, or C
 *	record.ticks = ticks; record.words = ...
 *	record.bits = site.bits | thread, released   -- pairs with the acquire in the drain's walk
 *
 * It is harmless if the writer has moved to another CPU meanwhile.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stddef.h>

#include <asm/alternative.h>

#include <nslice/kernel.h>

#include "kernel/kernel_ring.h"
#include "kernel/kernel_write.h"

static_assert(offsetof(struct nslice_kernel_site, step) == 8 && offsetof(struct nslice_kernel_site, head) == 16);
static_assert(offsetof(struct nslice_ring_meta, limit) == offsetof(struct nslice_ring_meta, head) + 8);
static_assert(offsetof(struct nslice_ring_meta, mask) == offsetof(struct nslice_ring_meta, limit) + 4);
static_assert(NSMOD_RING_KINDS_OFFSET == offsetof(struct nslice_ring_meta, limit) + 8);

/* The assembly is the whole function: the compiler adds no instructions before or after it. */
#define LEAN(function_, words_, rest_)                                                      \
	notrace void function_(void)                                                        \
	{                                                                                   \
		asm volatile("ldr	x0, [x30, #4]\n"                                    \
			     "1:	nop\n\t"                                            \
			     ".pushsection __jump_table, \"aw\"\n\t"                        \
			     ".align 3\n\t"                                                 \
			     ".long 1b - ., 2f - .\n\t"                                     \
			     ".quad %c[key] - .\n\t"                                        \
			     ".popsection\n\t"                                              \
			     "ldp	x4, x5, [x0]\n\t"                                   \
			     "cbz	x4, 2f\n\t"                                         \
			     "ldr	x10, [x0, #16]\n\t"                                 \
			     ALTERNATIVE("mrs x11, tpidr_el1", "mrs x11, tpidr_el2",        \
					 ARM64_HAS_VIRT_HOST_EXTN)                          \
			     "\n\t"                                                         \
			     "add	x10, x10, x11\n\t"                                  \
			     "ldxr	x6, [x10]\n\t"                                      \
			     "ldp	x7, x8, [x10, #8]\n\t"                              \
			     "add	x5, x6, x5\n\t"                                     \
			     "sub	w9, w7, w5\n\t"                                     \
			     "tbnz	w9, #31, 2f\n\t"                                    \
			     "mrs	x12, cntvct_el0\n\t"                                \
			     "stxr	w9, x5, [x10]\n\t"                                  \
			     "cbnz	w9, 2f\n\t"                                         \
			     "and	x6, x6, x7, lsr #32\n\t"                            \
			     "add	x6, x8, x6, lsl #3\n\t"                             \
			     "stur	x12, [x6, #-8]\n\t"                                 \
			     words_                                                         \
			     "mrs	x11, sp_el0\n\t"                                    \
			     "ldr	w11, [x11, %[pid]]\n\t"                             \
			     "orr	x4, x4, x11\n\t"                                    \
			     "stlr	x4, [x6]\n\t"                                       \
			     "ret\n"                                                        \
			     "2:	b	" rest_                                     \
			     : : [key] "i"(&nsmod_general_key.key),                         \
				 [pid] "i"(offsetof(struct task_struct, pid)));             \
		__builtin_unreachable();                                                    \
	}                                                                                   \
	NOKPROBE_SYMBOL(function_);                                                         \
	EXPORT_SYMBOL_GPL(function_)

LEAN(nslice_kernel_record_lean, "", "nslice_kernel_record");
LEAN(nslice_kernel_record_lean_1, "str x1, [x6, #8]\n\t", "nslice_kernel_record_1");
LEAN(nslice_kernel_record_lean_3, "stp x1, x2, [x6, #8]\n\tstr x3, [x6, #24]\n\t", "nslice_kernel_record_3");
