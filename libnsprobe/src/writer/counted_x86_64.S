/* SPDX-License-Identifier: MIT */
/* START and STOP with counters on x86-64: counter registers and clock -> record, without C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

#ifndef READ_COUNTER
#define READ_COUNTER rdpmc
#endif

/* Counter i, by the block's copy of its page: counted_block.c says why this is enough. */
.macro read_counter i
	mov	NSP_COUNTED_READER + 8 * \i(%r8), %ecx
	READ_COUNTER
	shl	$32, %rdx
	or	%rdx, %rax
	mov	NSP_COUNTED_SPARE_BITS + 4 * \i(%r8), %ecx
	shl	%cl, %rax
	sar	%cl, %rax
	add	NSP_COUNTED_OFFSET + 8 * \i(%r8), %rax
	mov	%rax, NSP_COUNTED_VALUE + 8 * \i(%r8)
.endm

/*
 * %edx: not 0, and the flags show it, if a lock up to i has changed.  One branch for all: the way to
 * C is as long whichever changed, since its cost is subtracted.
 */
.macro check_lock i
	mov	NSP_COUNTED_PAGE + 8 * \i(%r8), %rax
	.if	\i == 0
	mov	NSP_PAGE_LOCK(%rax), %edx
	xor	NSP_COUNTED_LOCK(%r8), %edx
	.else
	mov	NSP_PAGE_LOCK(%rax), %eax
	xor	NSP_COUNTED_LOCK + 4 * \i(%r8), %eax
	or	%eax, %edx
	.endif
.endm

.macro copy_word i
	mov	NSP_COUNTED_VALUE + 8 * \i(%r8), %rax
	mov	%rax, 16 + 8 * \i(%r9)
.endm

/*
 * In: %rdi state, %rsi site.  Preserves the same registers as nsp_detail_general, and
 * continues there with both if it cannot write the record.  %r8: struct nsp_counted;
 * %r9: offset of the rseq area, then the record; %rcx: head of the ring.
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
	.if	\ordered
	lfence
	.endif
	mov	NSP_DETAIL_STATE_COUNTED_RSEQ(%rdi), %r9
	mov	NSP_DETAIL_STATE_THREAD(%rdi), %r8
	add	%fs:0, %r8
	mov	NSP_DETAIL_STATE_SEQUENCE(%rdi), %rax
	mov	%rax, %fs:8(%r9)
	mov	NSP_DETAIL_STATE_KEY(%rdi), %eax
	mov	NSP_COUNTED_SLOT + NSP_COUNTED_SLOT_BYTES * (\n - 1) + 8(%r8), %rdx
	mov	NSP_PAGE_LOCK(%rdx), %edx
	shl	$32, %rax
	or	%rdx, %rax
	cmp	NSP_COUNTED_SLOT + NSP_COUNTED_SLOT_BYTES * (\n - 1)(%r8), %rax
	jne	.Lstale
	.irp	i, 0, 1, 2, 3, 4, 5
	.if	\i < \n
	read_counter \i
	.endif
	.endr
	.irp	i, 0, 1, 2, 3, 4, 5
	.if	\i < \n
	check_lock \i
	.endif
	.endr
	jne	.Ltorn
	movq	$NSP_NOT_WRITTEN, NSP_COUNTED_HAS_WRITTEN(%r8)
.Lbegin_\ordered\n:
	cmpq	$0, %fs:8(%r9)
	je	.Llate
	mov	NSP_COUNTED_HEAD(%r8), %rcx
	mov	(%rcx), %r9d
	mov	NSP_HEAD_LIMIT(%rcx), %eax
	sub	%r9d, %eax
	cmp	$\n + 2, %eax
	jl	.Lfull
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	and	NSP_HEAD_MASK(%rcx), %r9d
	lea	NSP_HEAD_DATA(%rcx,%r9,8), %r9
	mov	%rax, (%r9)
	mov	NSP_DETAIL_SITE_HEAD_BITS(%rsi), %eax
	shl	$32, %rax
	or	NSP_COUNTED_THREAD_AND_COUNT(%r8), %rax
	mov	%rax, 8(%r9)
	.irp	i, 0, 1, 2, 3, 4, 5
	.if	\i < \n
	copy_word \i
	.endif
	.endr
	mov	NSP_COUNTED_STEP(%r8), %rax
	add	(%rcx), %rax
	mov	%rax, (%rcx)
.Lcommitted_\ordered\n:
	mov	NSP_DETAIL_STATE_COUNTED_RSEQ(%rdi), %r9
	movq	$0, %fs:8(%r9)
	movq	$NSP_WRITTEN, NSP_COUNTED_HAS_WRITTEN(%r8)
	.if	\ordered
	lfence
	.endif
	ret
	.cfi_endproc
	.pushsection nsprobe_cs, "aw", @progbits
	.balign	32
.Lcs_\ordered\n:
	.long	0, 0
	.quad	.Lbegin_\ordered\n, .Lcommitted_\ordered\n - .Lbegin_\ordered\n, .Laborted
	.popsection
.endm

	.hidden	nsp_detail_uncounted

	.text
	.type	nsp_detail_counted, @function
nsp_detail_counted:
	.irp	ordered, 0, 1
	.irp	n, 1, 2, 3, 4, 5, 6
	counted	\n, \ordered
	.endr
	.endr

	.cfi_startproc
.Lstale:
	mov	$NSP_ATTEMPT_STALE, %ecx
	jmp	nsp_detail_uncounted
.Ltorn:
	mov	$NSP_ATTEMPT_TORN, %ecx
	jmp	nsp_detail_uncounted
.Llate:
	mov	$NSP_ATTEMPT_LATE, %ecx
	jmp	nsp_detail_uncounted
	.byte	0x0f, 0xb9, 0x3d /* ud1: the signature below is its operand */
	.long	0x53053053
.Laborted:
.Lfull:
	mov	$NSP_ATTEMPT_ABORTED, %ecx
	jmp	nsp_detail_uncounted
	.cfi_endproc
	.size	nsp_detail_counted, . - nsp_detail_counted

	.section .data.rel.ro, "aw", @progbits
	.globl	nsp_detail_counted_codes
	.hidden	nsp_detail_counted_codes
	.type	nsp_detail_counted_codes, @object
	.balign	8
nsp_detail_counted_codes:
	.irp	ordered, 0, 1
	.irp	n, 1, 2, 3, 4, 5, 6
	.quad	.Lcounted_\ordered\n, .Lcs_\ordered\n
	.endr
	.endr
	.size	nsp_detail_counted_codes, . - nsp_detail_counted_codes

	.section .note.GNU-stack, "", @progbits
