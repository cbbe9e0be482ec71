/* SPDX-License-Identifier: MIT */
/* The probe's cold path on x86-64: saves the registers that the probe preserves, then calls C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

#define TRAP_FLAG 0x100

	.text
/*
 * In: %rdi state, %rsi site, and %r10, %r11, %r12 the words, if the site has any.
 * The C part is built without vector instructions, so only general registers are
 * saved.
 *
 * In mode STEP the trap flag is cleared first and set again last: a trap inside the
 * restartable sequence would abort it forever, and the number of stepped instructions
 * on either side must be constant.
 */
	.globl	nsp_detail_general
	.type	nsp_detail_general, @function
	.p2align 4
nsp_detail_general:
	.cfi_startproc
	cmpl	$NSP_DETAIL_MODE_COUNTED, NSP_DETAIL_STATE_MODE(%rdi)
	jne	1f
	cmpb	$NSP_LAST_COUNTED_KIND, NSP_SITE_KIND(%rsi)
	ja	1f
	jmp	*NSP_DETAIL_STATE_COUNTED(%rdi)
1:	xor	%ecx, %ecx /* NSP_ATTEMPT_NONE */
	.globl	nsp_detail_uncounted
	.hidden	nsp_detail_uncounted
nsp_detail_uncounted: /* in: %ecx NSP_ATTEMPT_* */
	cmpl	$NSP_DETAIL_MODE_STEP, NSP_DETAIL_STATE_MODE(%rdi)
	jne	1f
	pushfq
	.cfi_adjust_cfa_offset 8
	andq	$~TRAP_FLAG, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
1:	cmpl	$0, NSP_DETAIL_STATE_ORDERED(%rdi)
	je	3f
	lfence
3:	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%r12
	push	%r11
	push	%r10
	mov	%rsp, %rdx
	push	%rdi
	push	%rsi
	and	$-16, %rsp
	call	nsp_detail_emit
	lea	-40(%rbp), %rsp
	pop	%rsi
	pop	%rdi
	pop	%r10
	pop	%r11
	pop	%r12
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	cmpl	$0, NSP_DETAIL_STATE_ORDERED(%rdi)
	je	4f
	lfence
4:	test	%eax, %eax
	jne	2f
	ret
2:	pushfq
	.cfi_adjust_cfa_offset 8
	orq	$TRAP_FLAG, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	nsp_detail_general, . - nsp_detail_general

/*
 * int nsp_detail_push_rseq(state, record, record_words, cpu, word, value): the restartable
 * sequence of the probe for a record that C has prepared.  Word 0 (the clock) is filled here.
 *
 * Returns 0 committed, 1 no room in the ring of CPU *cpu, 2 CPU without ring, 3 aborted, or
 * *word is not `value`.
 * In: %rdi state, %rsi record, %edx size in words, %rcx uint32_t *cpu, %r8 word, %r9 value.
 */
	.globl	nsp_detail_push_rseq
	.hidden	nsp_detail_push_rseq
	.type	nsp_detail_push_rseq, @function
	.p2align 4
nsp_detail_push_rseq:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	mov	%edx, %r11d
	mov	NSP_DETAIL_STATE_RSEQ(%rdi), %rbx
	lea	.Lpush_cs(%rip), %rax
	mov	%rax, %fs:8(%rbx)
.Lpush_begin:
	cmp	%r9, (%r8)
	jne	.Lpush_abort
	mov	%fs:4(%rbx), %eax
	mov	%eax, (%rcx)
	cmp	NSP_DETAIL_STATE_CPUS(%rdi), %eax
	jae	.Lpush_no_ring
	imul	NSP_DETAIL_STATE_STRIDE(%rdi), %rax
	add	NSP_DETAIL_STATE_RINGS(%rdi), %rax
	mov	%rax, %r8
	mov	NSP_DETAIL_RING_HEAD(%r8), %r9
	lea	(%r9,%r11), %edx
	mov	NSP_DETAIL_RING_LIMIT(%r8), %eax
	sub	%edx, %eax
	js	.Lpush_full
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%r9d, %r10d
	and	NSP_DETAIL_RING_MASK(%r8), %r10d
	lea	NSP_DETAIL_RING_DATA(%r8,%r10,8), %r10
	mov	%rax, (%r10)
	mov	$1, %edx
.Lpush_copy:
	mov	(%rsi,%rdx,8), %rax
	mov	%rax, (%r10,%rdx,8)
	inc	%edx
	cmp	%r11d, %edx
	jb	.Lpush_copy
	movabs	$(1 << 32), %rax
	add	%r9, %rax
	add	%r11, %rax
	mov	%rax, NSP_DETAIL_RING_HEAD(%r8)
.Lpush_committed:
	xor	%eax, %eax
	jmp	.Lpush_out
.Lpush_full:
	mov	$1, %eax
	jmp	.Lpush_out
.Lpush_no_ring:
	mov	$2, %eax
.Lpush_out:
	movq	$0, %fs:8(%rbx)
	pop	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
	.byte	0x0f, 0xb9, 0x3d /* ud1: the signature below is its operand */
	.long	0x53053053
.Lpush_abort:
	mov	$3, %eax
	jmp	.Lpush_out
	.cfi_endproc
	.size	nsp_detail_push_rseq, . - nsp_detail_push_rseq

/*
 * void nsp_detail_call_saving_vectors(void (*function)(void)): for the rare
 * case in which a probe must run ordinary code (a thread's first probe in a
 * session with counters).  Saves x87, SSE, AVX and AVX-512 state: 0xe7.
 */
#define XSAVE_BYTES 4096
	.text
	.globl	nsp_detail_call_saving_vectors
	.type	nsp_detail_call_saving_vectors, @function
	.p2align 4
nsp_detail_call_saving_vectors:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	$XSAVE_BYTES, %rsp
	and	$-64, %rsp
	mov	%rdi, %r11
	xor	%eax, %eax
	lea	512(%rsp), %rdi /* the header must be zero */
	mov	$8, %ecx
	rep stosq
	mov	$0xe7, %eax
	xor	%edx, %edx
	xsave64	(%rsp)
	call	*%r11
	mov	$0xe7, %eax
	xor	%edx, %edx
	xrstor64 (%rsp)
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	nsp_detail_call_saving_vectors, . - nsp_detail_call_saving_vectors

	.section nsprobe_cs, "aw", @progbits
	.balign	32
.Lpush_cs:
	.long	0, 0
	.quad	.Lpush_begin, .Lpush_committed - .Lpush_begin, .Lpush_abort

	.section .note.GNU-stack, "", @progbits
