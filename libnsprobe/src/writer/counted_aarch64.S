/* SPDX-License-Identifier: MIT */
/* START and STOP with counters on arm64: counter registers and clock -> record, without C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

#define BTI_C hint #34 /* a landing pad for blr; a no-op if branch targets are not checked */

/* on the stack */
#define SAVED 0 /* registers of the program */
#define WORDS 64 /* as read, then as recorded */
#define BEFORE (WORDS + 8 * NSP_COUNTED_MAX) /* the last whole reading of this probe */
#define FRAME_BYTES (WORDS + 16 * NSP_COUNTED_MAX)

/*
 * x3: thread; x7: register table; w8: number of counters; w10: serial when the probe
 * began; w13: locks that changed in this round; w14: rounds so far without a whole one
 * as a reference; x16: factor by which the difference to the previous reading is
 * subtracted.
 *
 * Counter i by the kernel's self-monitoring protocol (linux/perf_event.h).
 * index 0 means that the counter has no register at the moment: the C part asks the
 * kernel.  The event's running time is not checked: it is pinned, and an event that
 * has to share loses its register.
 */
.macro read_counter i
	ldp	x4, x5, [x3, #NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES]
	ldp	w6, w9, [x4, #NSP_PAGE_LOCK]
	ldr	x12, [x4, #NSP_PAGE_CAPABILITIES]
	ldr	x11, [x4, #NSP_PAGE_OFFSET]
	tbz	x12, #NSP_PAGE_CAP_USER_RDPMC_BIT, .Lno_register
	add	x9, x7, x9, lsl #4
	blr	x9
	lsl	x17, x17, x5
	asr	x17, x17, x5
	add	x17, x17, x11
	ldr	w12, [x4, #NSP_PAGE_LOCK]
	eor	w12, w12, w6
	orr	w13, w13, w12
	str	x17, [sp, #WORDS + 8 * \i]
.endm

/*
 * Every round executes the same instructions, so the difference between two whole
 * readings is what the probe executed between them: it is subtracted from this
 * reading and all later ones (see emit.c).  A torn round has no effect.  Flags: w13 is 0.
 */
.macro settle_counter i
	ldr	x17, [sp, #WORDS + 8 * \i]
	ldr	x12, [sp, #BEFORE + 8 * \i]
	csel	x17, x17, x12, eq
	str	x17, [sp, #BEFORE + 8 * \i]
	sub	x12, x17, x12
	ldr	x11, [x3, #NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_DETOUR]
	madd	x11, x12, x16, x11
	str	x11, [x3, #NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_DETOUR]
	sub	x17, x17, x11
	str	x17, [sp, #WORDS + 8 * \i]
.endm

.macro copy_word i
	ldr	x5, [sp, #WORDS + 8 * \i]
	str	x5, [x6, #16 + 8 * \i]
.endm

/* Preserves the flags. */
.macro unless_last i, label
	sub	w9, w8, #\i + 1
	cbz	w9, \label
.endm

.macro leave
	ldp	x14, x30, [sp, #SAVED + 48]
	ldp	x12, x13, [sp, #SAVED + 32]
	ldp	x10, x11, [sp, #SAVED + 16]
	ldp	x8, x9, [sp], #FRAME_BYTES
	.cfi_remember_state
	.cfi_def_cfa_offset 0
	.cfi_restore x30
.endm

	.hidden	nsp_session_generation
	.hidden	nsp_push_again

	.text
/*
 * In: x0 state, x1 site.  Preserves the same registers as nsp_detail_general, and
 * continues there with both if it cannot handle the record or the thread.
 */
	.globl	nsp_detail_counted
	.hidden	nsp_detail_counted
	.type	nsp_detail_counted, %function
	.p2align 4
nsp_detail_counted:
	.cfi_startproc
	BTI_C
	ldrb	w3, [x1, #NSP_SITE_KIND]
	cmp	w3, #NSP_LAST_COUNTED_KIND
	b.hi	.Luncounted
	mrs	x17, tpidr_el0
	adrp	x3, :gottprel:nsp_thread
	ldr	x3, [x3, :gottprel_lo12:nsp_thread]
	add	x3, x17, x3
	adrp	x4, nsp_session_generation
	ldr	w4, [x4, :lo12:nsp_session_generation]
	ldr	w5, [x3, #NSP_THREAD_REGISTERS_OF]
	cmp	w4, w5
	b.ne	.Luncounted
	ldr	w4, [x0, #NSP_DETAIL_STATE_ORDERED]
	cbz	w4, 1f
	isb
1:	stp	x8, x9, [sp, #-FRAME_BYTES]!
	.cfi_def_cfa_offset FRAME_BYTES
	stp	x10, x11, [sp, #SAVED + 16]
	stp	x12, x13, [sp, #SAVED + 32]
	stp	x14, x30, [sp, #SAVED + 48]
	.cfi_offset x30, SAVED + 56 - FRAME_BYTES
	mov	w14, #0
	ldr	w10, [x3, #NSP_THREAD_SERIAL]
	mov	x16, #0
	ldr	w8, [x0, #NSP_DETAIL_STATE_COUNTERS]
.Ltry:
	adr	x7, nsp_detail_registers
	mov	w13, #0
	.irp i, 0, 1, 2, 3, 4
	read_counter \i
	unless_last \i, .Lread
	.endr
	read_counter 5
.Lread:
	cmp	w13, #0
	.irp i, 0, 1, 2, 3, 4
	settle_counter \i
	unless_last \i, .Lsettled
	.endr
	settle_counter 5
.Lsettled:
	orr	w9, w13, w14
	cbnz	w9, .Lround_too_many

	/*
	 * Like the probe's own sequence (nsprobe/detail/arch_aarch64.h); rseq area: x4, ring: x7,
	 * head: x12, record: x6.
	 */
.Lpush:
	mrs	x17, tpidr_el0
	ldr	x4, [x0, #NSP_DETAIL_STATE_RSEQ]
	add	x4, x17, x4
	adrp	x5, .Lcounted_cs
	add	x5, x5, :lo12:.Lcounted_cs
	str	x5, [x4, #8]
.Lbegin:
	ldr	w5, [x3, #NSP_THREAD_SERIAL]
	cmp	w5, w10
	b.ne	.Lhandler_came
	ldr	w5, [x4, #4]
	ldr	w6, [x0, #NSP_DETAIL_STATE_CPUS]
	mov	x7, #0
	cmp	w5, w6
	b.hs	.Lno_place
	ldp	x6, x7, [x0, #NSP_DETAIL_STATE_STRIDE]
	madd	x7, x5, x6, x7
	ldr	x12, [x7, #NSP_DETAIL_RING_HEAD]
	ldp	w6, w9, [x7, #NSP_DETAIL_RING_LIMIT]
	sub	w6, w6, w12
	sub	w6, w6, w8
	cmp	w6, #2
	b.lt	.Lno_place
	mrs	x5, cntvct_el0
	and	w6, w9, w12
	add	x6, x7, x6, lsl #3
	add	x6, x6, #NSP_DETAIL_RING_DATA
	str	x5, [x6]
	adrp	x5, :gottprel:nsp_detail_thread_id
	ldr	x5, [x5, :gottprel_lo12:nsp_detail_thread_id]
	ldr	w5, [x17, x5]
	ldr	w9, [x1, #NSP_DETAIL_SITE_HEAD_BITS]
	orr	w9, w9, w8, lsl #24
	stp	w5, w9, [x6, #8]
	.irp i, 0, 1, 2, 3, 4
	copy_word \i
	unless_last \i, .Lcommit
	.endr
	copy_word 5
.Lcommit:
	mov	x5, #0x100000000
	add	x5, x5, #2
	add	x12, x12, x5
	add	x12, x12, x8
	add	x7, x7, #NSP_DETAIL_RING_HEAD
	stlr	x12, [x7] /* pairs with the acquire in the drain */
.Lcommitted:
	str	xzr, [x4, #8]
.Lout:
	ldr	w5, [x3, #NSP_THREAD_SERIAL]
	add	w5, w5, #1
	str	w5, [x3, #NSP_THREAD_SERIAL]
	leave
	ldr	w3, [x0, #NSP_DETAIL_STATE_ORDERED]
	cbz	w3, 2f
	isb
2:	ret

	.cfi_restore_state
.Lno_register:
	leave
.Luncounted: /* a conditional branch cannot reach every address in a large program */
	b	nsp_detail_uncounted

	.cfi_restore_state
	.inst	0xd428bc00 /* brk: the signature that the kernel expects before the handler */
.Labort:
	mov	x16, #1
	ldr	w5, [x3, #NSP_THREAD_SERIAL]
	cmp	w5, w10
	b.eq	.Ltry
	/*
	 * A signal handler with its own probes ran after the reads.  Its records precede
	 * this one, so its counts must, too; the difference is the handler's work and is
	 * kept.
	 */
.Lhandler_came:
	mov	w10, w5
	mov	x16, #0
	b	.Ltry

	/*
	 * A thread switch during the reads.  Rounds before the first whole one have no
	 * reference reading, but cost the same as any round: one additional whole round
	 * measures that cost, which is subtracted once for each of them.  After an aborted
	 * attempt (x16 is 1) there is a reference reading.  The other three paths are
	 * seven instructions each.
	 */
.Lround_too_many:
	cbz	w13, .Lfirst_whole
	cbz	x16, .Ltorn
	cmp	x16, #1
	b.eq	.Ltry
	add	w14, w16, #1 /* the additional round was torn itself: start over */
	mov	x16, #0
	b	.Ltry
.Ltorn:
	add	w14, w14, #1
	nop
	nop
	nop
	b	.Ltry
.Lfirst_whole:
	add	w16, w14, #1
	mov	w14, #0
	nop
	nop
	nop
	b	.Ltry

.Lno_place:
	str	xzr, [x4, #8]
	sub	sp, sp, #96
	.cfi_adjust_cfa_offset 96
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x8, x10, [sp, #32]
	stp	x14, x15, [sp, #48]
	str	x18, [sp, #64]
	mov	x1, x7
	add	w2, w8, #2
	bl	nsp_push_again
	mov	w5, w0
	ldr	x18, [sp, #64]
	ldp	x14, x15, [sp, #48]
	ldp	x8, x10, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	add	sp, sp, #96
	.cfi_adjust_cfa_offset -96
	cbnz	w5, .Labort
	b	.Lout
	.cfi_endproc
	.size	nsp_detail_counted, . - nsp_detail_counted

/*
 * The instruction encodes its register, so there is one entry for each, 16 bytes
 * apart, by struct perf_event_mmap_page's index: 0 none, 32 the cycle counter.
 */
	.p2align 4
	.type	nsp_detail_registers, %function
nsp_detail_registers:
	BTI_C
	b	.Lno_register
	nop
	nop
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	BTI_C
	mrs	x17, pmevcntr\n\()_el0
	ret
	nop
	.endr
	BTI_C
	mrs	x17, pmccntr_el0
	ret
	.size	nsp_detail_registers, . - nsp_detail_registers

/* uint64_t nsp_detail_read_pmc(uint32_t index): for C, numbered from 0. */
	.globl	nsp_detail_read_pmc
	.hidden	nsp_detail_read_pmc
	.type	nsp_detail_read_pmc, %function
	.p2align 4
nsp_detail_read_pmc:
	.cfi_startproc
	BTI_C
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	and	w0, w0, #31
	adr	x1, nsp_detail_registers + 16
	add	x1, x1, x0, lsl #4
	blr	x1
	mov	x0, x17
	ldp	x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	nsp_detail_read_pmc, . - nsp_detail_read_pmc

	.section nsprobe_cs, "aw", %progbits
	.balign	32
.Lcounted_cs:
	.long	0, 0
	.quad	.Lbegin, .Lcommitted - .Lbegin, .Labort

	.section .note.GNU-stack, "", %progbits
