/* SPDX-License-Identifier: MIT */
/* The probe's cold path on arm64: saves the registers that the probe preserves, then calls C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

#define BTI_C hint #34 /* a landing pad for blr; a no-op if branch targets are not checked */

	.text
/*
 * In: x0 state, x1 site, and x2, x9, x10 the words, if the site has any.  The C part
 * is built without vector instructions, so only general registers are saved: x0, x1,
 * x3 to x7, x16 and x17 are clobbered by the probe, and the probe saves x30.
 */
	.globl	nsp_detail_general
	.type	nsp_detail_general, %function
	.p2align 4
nsp_detail_general:
	.cfi_startproc
	BTI_C
	mov	w3, #NSP_ATTEMPT_NONE
	.globl	nsp_detail_uncounted
	.hidden	nsp_detail_uncounted
nsp_detail_uncounted: /* in: w3 NSP_ATTEMPT_* */
	ldr	w4, [x0, #NSP_DETAIL_STATE_ORDERED]
	cbz	w4, 1f
	isb
1:	stp	x29, x30, [sp, #-112]!
	.cfi_def_cfa_offset 112
	.cfi_offset x29, -112
	.cfi_offset x30, -104
	mov	x29, sp
	stp	x2, x9, [sp, #16]
	stp	x10, x0, [sp, #32]
	stp	x8, x11, [sp, #48]
	stp	x12, x13, [sp, #64]
	stp	x14, x15, [sp, #80]
	stp	x18, x1, [sp, #96]
	add	x2, sp, #16
	bl	nsp_detail_emit
	ldp	x18, x1, [sp, #96]
	ldp	x14, x15, [sp, #80]
	ldp	x12, x13, [sp, #64]
	ldp	x8, x11, [sp, #48]
	ldp	x10, x0, [sp, #32]
	ldp	x2, x9, [sp, #16]
	ldp	x29, x30, [sp], #112
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ldr	w3, [x0, #NSP_DETAIL_STATE_ORDERED]
	cbz	w3, 2f
	isb
2:	ret
	.cfi_endproc
	.size	nsp_detail_general, . - nsp_detail_general

/*
 * int nsp_detail_push_rseq(state, record, record_words, cpu, word, value): the restartable
 * sequence of the probe for a record that C has prepared.  Word 0 (the clock) is filled here.
 *
 * Returns 0 committed, 1 no room in the ring of CPU *cpu, 2 CPU without ring, 3 aborted, or
 * *word is not `value`.
 * In: x0 state, x1 record, w2 size in words, x3 uint32_t *cpu, x4 word, x5 value.
 */
	.globl	nsp_detail_push_rseq
	.hidden	nsp_detail_push_rseq
	.type	nsp_detail_push_rseq, %function
	.p2align 4
nsp_detail_push_rseq:
	.cfi_startproc
	BTI_C
	mov	x12, x4
	mov	x13, x5
	mrs	x4, tpidr_el0
	ldr	x5, [x0, #NSP_DETAIL_STATE_RSEQ]
	add	x4, x4, x5
	adrp	x5, .Lpush_cs
	add	x5, x5, :lo12:.Lpush_cs
	str	x5, [x4, #8]
.Lpush_begin:
	ldr	x5, [x12]
	cmp	x5, x13
	b.ne	.Lpush_abort
	ldr	w5, [x4, #4]
	str	w5, [x3]
	ldr	w6, [x0, #NSP_DETAIL_STATE_CPUS]
	cmp	w5, w6
	b.hs	.Lpush_no_ring
	ldr	x6, [x0, #NSP_DETAIL_STATE_STRIDE]
	ldr	x7, [x0, #NSP_DETAIL_STATE_RINGS]
	madd	x7, x5, x6, x7
	ldr	x8, [x7, #NSP_DETAIL_RING_HEAD]
	ldr	w10, [x7, #NSP_DETAIL_RING_LIMIT]
	add	w9, w8, w2
	cmp	w10, w9
	b.mi	.Lpush_full
	mrs	x9, cntvct_el0
	ldr	w10, [x7, #NSP_DETAIL_RING_MASK]
	and	w10, w10, w8
	add	x10, x7, x10, lsl #3
	add	x10, x10, #NSP_DETAIL_RING_DATA
	str	x9, [x10]
	mov	w9, #1
.Lpush_copy:
	ldr	x11, [x1, x9, lsl #3]
	str	x11, [x10, x9, lsl #3]
	add	w9, w9, #1
	cmp	w9, w2
	b.lo	.Lpush_copy
	mov	x9, #0x100000000
	add	x8, x8, w2, uxtw
	add	x8, x8, x9
	add	x7, x7, #NSP_DETAIL_RING_HEAD
	stlr	x8, [x7] /* pairs with the acquire in the drain */
.Lpush_committed:
	mov	w0, #0
.Lpush_out:
	str	xzr, [x4, #8]
	ret
.Lpush_full:
	mov	w0, #1
	b	.Lpush_out
.Lpush_no_ring:
	mov	w0, #2
	b	.Lpush_out
	.inst	0xd428bc00 /* brk: the signature that the kernel expects before the handler */
.Lpush_abort:
	mov	w0, #3
	b	.Lpush_out
	.cfi_endproc
	.size	nsp_detail_push_rseq, . - nsp_detail_push_rseq

/*
 * void nsp_detail_call_saving_vectors(void (*function)(void)): for the rare
 * case in which a probe must run ordinary code (a thread's first probe in a
 * session with counters).
 */
	.globl	nsp_detail_call_saving_vectors
	.type	nsp_detail_call_saving_vectors, %function
	.p2align 4
nsp_detail_call_saving_vectors:
	.cfi_startproc
	BTI_C
	sub	sp, sp, #544
	.cfi_def_cfa_offset 544
	stp	x29, x30, [sp]
	.cfi_offset x29, -544
	.cfi_offset x30, -536
	mov	x29, sp
	mrs	x1, fpcr
	mrs	x2, fpsr
	stp	x1, x2, [sp, #16]
	stp	q0, q1, [sp, #32]
	stp	q2, q3, [sp, #64]
	stp	q4, q5, [sp, #96]
	stp	q6, q7, [sp, #128]
	stp	q8, q9, [sp, #160]
	stp	q10, q11, [sp, #192]
	stp	q12, q13, [sp, #224]
	stp	q14, q15, [sp, #256]
	stp	q16, q17, [sp, #288]
	stp	q18, q19, [sp, #320]
	stp	q20, q21, [sp, #352]
	stp	q22, q23, [sp, #384]
	stp	q24, q25, [sp, #416]
	stp	q26, q27, [sp, #448]
	stp	q28, q29, [sp, #480]
	stp	q30, q31, [sp, #512]
	blr	x0
	ldp	q0, q1, [sp, #32]
	ldp	q2, q3, [sp, #64]
	ldp	q4, q5, [sp, #96]
	ldp	q6, q7, [sp, #128]
	ldp	q8, q9, [sp, #160]
	ldp	q10, q11, [sp, #192]
	ldp	q12, q13, [sp, #224]
	ldp	q14, q15, [sp, #256]
	ldp	q16, q17, [sp, #288]
	ldp	q18, q19, [sp, #320]
	ldp	q20, q21, [sp, #352]
	ldp	q22, q23, [sp, #384]
	ldp	q24, q25, [sp, #416]
	ldp	q26, q27, [sp, #448]
	ldp	q28, q29, [sp, #480]
	ldp	q30, q31, [sp, #512]
	ldp	x1, x2, [sp, #16]
	msr	fpcr, x1
	msr	fpsr, x2
	ldp	x29, x30, [sp]
	add	sp, sp, #544
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	nsp_detail_call_saving_vectors, . - nsp_detail_call_saving_vectors

	.section nsprobe_cs, "aw", %progbits
	.balign	32
.Lpush_cs:
	.long	0, 0
	.quad	.Lpush_begin, .Lpush_committed - .Lpush_begin, .Lpush_abort

	.section .note.GNU-stack, "", %progbits
