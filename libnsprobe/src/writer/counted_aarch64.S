/* SPDX-License-Identifier: MIT */
/* START and STOP with counters on arm64: counter registers and clock -> record, without C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

/* A landing pad for br x17 and blr; a no-op if branch targets are not checked. */
#define BTI_C hint #34

/*
 * Counters i and i + 1 by the block's copies of their pages: counted_block.c says why this is enough.
 * The first reader branches to the second, which returns.  Values: x6, x17.
 */
.macro read_pair i, n
	ldp	x6, x17, [x5, #NSP_COUNTED_READER + 8 * \i]
	blr	x6
	ldp	x7, x30, [x5, #NSP_COUNTED_OFFSET + 8 * \i]
	add	x6, x6, x7
	add	x17, x17, x30
	stp	x6, x17, [x5, #NSP_COUNTED_VALUE + 8 * \i]
.endm

.macro read_single i, n
	ldr	x17, [x5, #NSP_COUNTED_READER + 8 * \i]
	blr	x17
	ldr	x7, [x5, #NSP_COUNTED_OFFSET + 8 * \i]
	add	x17, x17, x7
	str	x17, [x5, #NSP_COUNTED_VALUE + 8 * \i]
.endm

/*
 * Equal: no lock up to here has changed.  One branch for all: the way to C is as long whichever
 * changed, since its cost is subtracted.
 */
.macro compare_locks i, a, b
	.if	\i == 0
	cmp	\a, \b
	.else
	ccmp	\a, \b, #0, eq
	.endif
.endm

.macro check_pair i, n
	ldp	x7, x30, [x5, #NSP_COUNTED_PAGE + 8 * \i]
	ldr	w7, [x7, #NSP_PAGE_LOCK]
	ldr	w30, [x30, #NSP_PAGE_LOCK]
	orr	x7, x7, x30, lsl #32
	ldr	x30, [x5, #NSP_COUNTED_LOCK + 4 * \i]
	compare_locks \i, x7, x30
.endm

.macro check_single i, n
	ldr	x7, [x5, #NSP_COUNTED_PAGE + 8 * \i]
	ldr	w7, [x7, #NSP_PAGE_LOCK]
	ldr	w30, [x5, #NSP_COUNTED_LOCK + 4 * \i]
	compare_locks \i, w7, w30
.endm

/* From the last to the first: the last values are still in their registers. */
.macro copy_pair i, n
	.if	\i + 2 < \n
	ldp	x6, x17, [x5, #NSP_COUNTED_VALUE + 8 * \i]
	.endif
	stp	x6, x17, [x0, #16 + 8 * \i]
.endm

.macro copy_single i, n
	str	x17, [x0, #16 + 8 * \i]
.endm

/* what_pair and what_single for the counters from i on, of n. */
.macro part what, i, n
	.if	\i + 1 < \n
	\what\()_pair \i, \n
	.elseif	\i < \n
	\what\()_single \i, \n
	.endif
.endm

/*
 * In: x0 state, x1 site.  Preserves the same registers as nsp_detail_general, and continues
 * there with both if it cannot write the record.  x5: struct nsp_counted; x4: rseq area; x16:
 * return address; x7: head of the ring; x30: its value; x0: record.
 *
 * The descriptor is published before the reading, but the sequence begins behind it.
 * If the thread is preempted or gets a signal in between, the kernel takes the
 * descriptor away, since the thread is not in its range; the sequence does not go on
 * without.  If it happens later, the sequence is aborted after a whole reading, whose
 * values remain: C reads again, and subtracts the difference.
 */
.macro counted n, ordered
	.p2align 4
.Lcounted_\ordered\n:
	.cfi_startproc
	BTI_C
	.if	\ordered
	isb
	.endif
	mrs	x3, tpidr_el0
	ldp	x4, x5, [x0, #NSP_DETAIL_STATE_COUNTED_RSEQ]
	add	x4, x3, x4
	add	x5, x3, x5
	ldr	x6, [x0, #NSP_DETAIL_STATE_SEQUENCE]
	str	x6, [x4, #8]
	ldr	w6, [x0, #NSP_DETAIL_STATE_KEY]
	ldp	x7, x16, [x5, #NSP_COUNTED_SLOT + NSP_COUNTED_SLOT_BYTES * (\n - 1)]
	ldr	w16, [x16, #NSP_PAGE_LOCK]
	orr	x6, x16, x6, lsl #32
	cmp	x6, x7
	b.ne	.Lstale
	mov	x16, x30
	.cfi_register x30, x16
	.irp	i, 0, 2, 4
	part	read, \i, \n
	.endr
	.irp	i, 0, 2, 4
	part	check, \i, \n
	.endr
	b.ne	.Ltorn
	str	xzr, [x5, #NSP_COUNTED_HAS_WRITTEN]
.Lbegin_\ordered\n:
	ldr	x7, [x4, #8]
	cbz	x7, .Llate
	ldr	x7, [x5, #NSP_COUNTED_HEAD]
	ldr	x30, [x7]
	ldp	w3, w0, [x7, #NSP_HEAD_LIMIT]
	sub	w3, w3, w30
	cmp	w3, #\n + 2
	b.lt	.Laborted
	and	w0, w0, w30
	add	x0, x7, x0, lsl #3
	add	x0, x0, #NSP_HEAD_DATA
	.irp	i, 4, 2, 0
	part	copy, \i, \n
	.endr
	ldp	x3, x6, [x5, #NSP_COUNTED_THREAD_AND_COUNT] /* and the step */
	ldr	w17, [x1, #NSP_DETAIL_SITE_HEAD_BITS]
	orr	x17, x3, x17, lsl #32
	mrs	x3, cntvct_el0
	stp	x3, x17, [x0]
	add	x30, x30, x6
	stlr	x30, [x7] /* pairs with the acquire in the drain */
.Lcommitted_\ordered\n:
	str	xzr, [x4, #8]
	str	x5, [x5, #NSP_COUNTED_HAS_WRITTEN] /* at least NSP_WRITTEN */
	.if	\ordered
	isb
	.endif
	ret	x16
	.cfi_endproc
	.pushsection nsprobe_cs, "aw", %progbits
	.balign	32
.Lcs_\ordered\n:
	.long	0, 0
	.quad	.Lbegin_\ordered\n, .Lcommitted_\ordered\n - .Lbegin_\ordered\n, .Laborted
	.popsection
.endm

	.hidden	nsp_detail_uncounted

	.text
	.type	nsp_detail_counted, %function
nsp_detail_counted:
	.irp	ordered, 0, 1
	.irp	n, 1, 2, 3, 4, 5, 6
	counted	\n, \ordered
	.endr
	.endr

	.cfi_startproc
.Lstale:
	mov	w3, #NSP_ATTEMPT_STALE
	b	nsp_detail_uncounted
	.cfi_register x30, x16
.Ltorn:
	mov	w3, #NSP_ATTEMPT_TORN
	mov	x30, x16
	b	nsp_detail_uncounted
.Llate:
	mov	w3, #NSP_ATTEMPT_LATE
	mov	x30, x16
	b	nsp_detail_uncounted
	.inst	0xd428bc00 /* brk: the signature that the kernel expects before the handler */
.Laborted:
	mov	w3, #NSP_ATTEMPT_ABORTED
	ldr	x0, [x5, #NSP_COUNTED_STATE]
	mov	x30, x16
	b	nsp_detail_uncounted
	.cfi_endproc
	.size	nsp_detail_counted, . - nsp_detail_counted

/*
 * The instruction encodes its register, so there is a reader for each, 16 bytes long, by
 * struct perf_event_mmap_page's index: 1 to 31 the event counters, 32 the cycle counter.
 * Of 64 bits, then of 32.  index 0, no register, has a reader that is not called.
 */
.macro reader event, value, is_long, next:vararg
	BTI_C
	.ifc	\event, none
	nop
	.else
	.ifc	\event, cycles
	mrs	x\value, pmccntr_el0
	.else
	mrs	x\value, pmevcntr\event\()_el0
	.endif
	.endif
	.if	\is_long
	\next
	nop
	.else
	sxtw	x\value, w\value
	\next
	.endif
.endm

.macro readers value, next:vararg
	.irp	is_long, 1, 0
	.irp	event, none, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, cycles
	reader	\event, \value, \is_long, \next
	.endr
	.endr
.endm

	.globl	nsp_detail_first_readers, nsp_detail_last_readers
	.hidden	nsp_detail_first_readers, nsp_detail_last_readers
	.type	nsp_detail_first_readers, %function
	.type	nsp_detail_last_readers, %function
	.p2align 4
nsp_detail_first_readers:
	readers	6, br x17
	.size	nsp_detail_first_readers, . - nsp_detail_first_readers
nsp_detail_last_readers:
	readers	17, ret
	.size	nsp_detail_last_readers, . - nsp_detail_last_readers

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
	adr	x1, nsp_detail_last_readers + 16
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

	.section .data.rel.ro, "aw", %progbits
	.globl	nsp_detail_counted_codes
	.hidden	nsp_detail_counted_codes
	.type	nsp_detail_counted_codes, %object
	.balign	8
nsp_detail_counted_codes:
	.irp	ordered, 0, 1
	.irp	n, 1, 2, 3, 4, 5, 6
	.quad	.Lcounted_\ordered\n, .Lcs_\ordered\n
	.endr
	.endr
	.size	nsp_detail_counted_codes, . - nsp_detail_counted_codes

	.section .note.GNU-stack, "", %progbits
