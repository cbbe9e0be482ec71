/* SPDX-License-Identifier: MIT */
/* START and STOP with counters on x86-64: counter registers and clock -> record, without C. */
#include <nsprobe/detail/state.h>

#include "counted.h"

#ifndef READ_COUNTER
#define READ_COUNTER rdpmc
#endif

/* on the stack */
#define WORDS 0 /* as read, then as recorded */
#define BEFORE (8 * NSP_COUNTED_MAX) /* the last whole reading of this probe */
#define SERIAL (16 * NSP_COUNTED_MAX) /* of the thread when the probe began */
#define TORN (SERIAL + 4) /* rounds so far without a whole one as a reference */
#define COUNT (SERIAL + 8) /* of counters: a new session may have begun when the thread resumes */
#define FRAME_BYTES (SERIAL + 16)

/*
 * thread: %r8; locks that changed in this round: %ebx; factor by which the
 * difference to the previous reading is subtracted: %r11.
 *
 * Counter i by the kernel's self-monitoring protocol (linux/perf_event.h).
 * index 0 means that the counter has no register at the moment: the C part asks the
 * kernel.  The event's running time is not checked: it is pinned, and an event that
 * has to share loses its register.
 */
.macro read_counter i
	mov	NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_PAGE(%r8), %r9
	mov	NSP_PAGE_LOCK(%r9), %r10d
	testb	$(1 << NSP_PAGE_CAP_USER_RDPMC_BIT), NSP_PAGE_CAPABILITIES(%r9)
	jz	.Lno_register
	mov	NSP_PAGE_INDEX(%r9), %ecx
	sub	$1, %ecx
	jb	.Lno_register
	READ_COUNTER
	shl	$32, %rdx
	or	%rdx, %rax
	mov	NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_SPARE_BITS(%r8), %ecx
	shl	%cl, %rax
	sar	%cl, %rax
	add	NSP_PAGE_OFFSET(%r9), %rax
	xor	NSP_PAGE_LOCK(%r9), %r10d
	or	%r10d, %ebx
	mov	%rax, WORDS + 8 * \i(%rsp)
.endm

/*
 * Every round executes the same instructions, so the difference between two whole
 * readings is what the probe executed between them: it is subtracted from this
 * reading and all later ones (see emit.c).  A torn round has no effect.
 */
.macro settle_counter i
	mov	WORDS + 8 * \i(%rsp), %rax
	mov	BEFORE + 8 * \i(%rsp), %rdx
	test	%ebx, %ebx
	cmovne	%rdx, %rax
	mov	%rax, BEFORE + 8 * \i(%rsp)
	mov	%rax, %rcx
	sub	%rdx, %rcx
	imul	%r11, %rcx
	add	%rcx, NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_DETOUR(%r8)
	sub	NSP_THREAD_COUNTER + \i * NSP_COUNTER_BYTES + NSP_COUNTER_DETOUR(%r8), %rax
	mov	%rax, WORDS + 8 * \i(%rsp)
.endm

.macro copy_word i
	mov	WORDS + 8 * \i(%rsp), %rax
	mov	%rax, 16 + 8 * \i(%rdx)
.endm

.macro unless_last i, label
	cmpl	$\i + 1, COUNT(%rsp)
	je	\label
.endm

.macro leave_frame
	add	$FRAME_BYTES, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -FRAME_BYTES
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	pop	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r11
	pop	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r10
.endm

	.hidden	nsp_session_generation
	.hidden	nsp_push_again

	.text
/*
 * In: %rdi state, %rsi site.  Preserves the same registers as nsp_detail_general, and
 * continues there with both if it cannot handle the record or the thread.
 */
	.globl	nsp_detail_counted
	.hidden	nsp_detail_counted
	.type	nsp_detail_counted, @function
	.p2align 4
nsp_detail_counted:
	.cfi_startproc
	cmpb	$NSP_LAST_COUNTED_KIND, NSP_SITE_KIND(%rsi)
	ja	nsp_detail_uncounted
	mov	nsp_thread@gottpoff(%rip), %r8
	add	%fs:0, %r8
	mov	nsp_session_generation(%rip), %eax
	cmp	%eax, NSP_THREAD_REGISTERS_OF(%r8)
	jne	nsp_detail_uncounted
	cmpl	$0, NSP_DETAIL_STATE_ORDERED(%rdi)
	je	1f
	lfence
1:	push	%r10
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r10, 0
	push	%r11
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r11, 0
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	sub	$FRAME_BYTES, %rsp
	.cfi_adjust_cfa_offset FRAME_BYTES
	mov	NSP_THREAD_SERIAL(%r8), %eax
	mov	%eax, SERIAL(%rsp)
	movl	$0, TORN(%rsp)
	mov	NSP_DETAIL_STATE_COUNTERS(%rdi), %eax
	mov	%eax, COUNT(%rsp)
	xor	%r11d, %r11d
.Ltry:
	xor	%ebx, %ebx
	.irp i, 0, 1, 2, 3, 4
	read_counter \i
	unless_last \i, .Lread
	.endr
	read_counter 5
.Lread:
	.irp i, 0, 1, 2, 3, 4
	settle_counter \i
	unless_last \i, .Lsettled
	.endr
	settle_counter 5
.Lsettled:
	mov	%ebx, %eax
	or	TORN(%rsp), %eax
	jnz	.Lround_too_many

	/*
	 * Like the probe's own sequence (nsprobe/detail/arch_x86_64.h); ring: %r10, head: %r9,
	 * record: %rdx.
	 */
.Lpush:
	mov	NSP_DETAIL_STATE_RSEQ(%rdi), %rcx
	lea	.Lcounted_cs(%rip), %rax
	mov	%rax, %fs:8(%rcx)
.Lbegin:
	mov	NSP_THREAD_SERIAL(%r8), %eax
	cmp	SERIAL(%rsp), %eax
	jne	.Lhandler_came
	mov	%fs:4(%rcx), %eax
	xor	%r10d, %r10d
	cmp	NSP_DETAIL_STATE_CPUS(%rdi), %eax
	jae	.Lno_place
	imul	NSP_DETAIL_STATE_STRIDE(%rdi), %rax
	add	NSP_DETAIL_STATE_RINGS(%rdi), %rax
	mov	%rax, %r10
	mov	NSP_DETAIL_RING_HEAD(%r10), %r9
	mov	NSP_DETAIL_RING_LIMIT(%r10), %eax
	sub	%r9d, %eax
	sub	COUNT(%rsp), %eax
	cmp	$2, %eax
	jl	.Lno_place
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%r9d, %edx
	and	NSP_DETAIL_RING_MASK(%r10), %edx
	lea	NSP_DETAIL_RING_DATA(%r10,%rdx,8), %rdx
	mov	%rax, (%rdx)
	mov	nsp_detail_thread_id@gottpoff(%rip), %rax
	mov	%fs:(%rax), %eax
	mov	%eax, 8(%rdx)
	mov	COUNT(%rsp), %eax
	shl	$24, %eax
	or	NSP_DETAIL_SITE_HEAD_BITS(%rsi), %eax
	mov	%eax, 12(%rdx)
	.irp i, 0, 1, 2, 3, 4
	copy_word \i
	unless_last \i, .Lcommit
	.endr
	copy_word 5
.Lcommit:
	mov	COUNT(%rsp), %eax
	add	.Lone_record(%rip), %r9
	add	%rax, %r9
	mov	%r9, NSP_DETAIL_RING_HEAD(%r10)
.Lcommitted:
	movq	$0, %fs:8(%rcx)
.Lout:
	incl	NSP_THREAD_SERIAL(%r8)
	leave_frame
	cmpl	$0, NSP_DETAIL_STATE_ORDERED(%rdi)
	je	2f
	lfence
2:	ret

	.cfi_restore_state
.Lno_register:
	leave_frame
	jmp	nsp_detail_uncounted

	.cfi_restore_state
	.byte	0x0f, 0xb9, 0x3d /* ud1: the signature below is its operand */
	.long	0x53053053
.Labort:
	mov	$1, %r11d
	mov	NSP_THREAD_SERIAL(%r8), %eax
	cmp	SERIAL(%rsp), %eax
	je	.Ltry
	/*
	 * A signal handler with its own probes ran after the reads.  Its records precede
	 * this one, so its counts must, too; the difference is the handler's work and is
	 * kept.
	 */
.Lhandler_came:
	mov	%eax, SERIAL(%rsp)
	xor	%r11d, %r11d
	jmp	.Ltry

	/*
	 * A thread switch during the reads.  Rounds before the first whole one have no
	 * reference reading, but cost the same as any round: one additional whole round
	 * measures that cost, which is subtracted once for each of them.  After an aborted
	 * attempt (%r11 is 1) there is a reference reading.  The other three paths are
	 * eleven instructions each.
	 */
.Lround_too_many:
	mov	TORN(%rsp), %eax
	inc	%eax
	test	%ebx, %ebx
	jz	.Lfirst_whole
	cmp	$1, %r11
	je	.Ltry
	jb	.Ltorn
	lea	1(%r11), %eax /* the additional round was torn itself: start over */
	mov	%eax, TORN(%rsp)
	xor	%r11d, %r11d
	jmp	.Ltry
.Ltorn:
	mov	%eax, TORN(%rsp)
	nop
	nop
	jmp	.Ltry
.Lfirst_whole:
	mov	%eax, %r11d
	movl	$0, TORN(%rsp)
	nop
	nop
	nop
	nop
	jmp	.Ltry

.Lno_place:
	movq	$0, %fs:8(%rcx)
	mov	COUNT(%rsp), %ecx
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	and	$-16, %rsp
	mov	%r10, %rsi
	lea	2(%rcx), %edx
	call	nsp_push_again
	mov	%rbp, %rsp
	.cfi_restore_state
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%eax, %eax
	jnz	.Labort
	jmp	.Lout
	.cfi_endproc
	.size	nsp_detail_counted, . - nsp_detail_counted

	.section .rodata.cst8, "aM", @progbits, 8
	.balign	8
.Lone_record:
	.quad	(1 << 32) + 2

	.section nsprobe_cs, "aw", @progbits
	.balign	32
.Lcounted_cs:
	.long	0, 0
	.quad	.Lbegin, .Lcommitted - .Lbegin, .Labort

	.section .note.GNU-stack, "", @progbits
