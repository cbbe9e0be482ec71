/* SPDX-License-Identifier: MIT */
/* Where patched functions go to: all registers saved, then C (inside.c) writes the record. */
#include "inside.h"

/*
 * With link-time register allocation (gcc's -fipa-ra) a caller may rely on any register that the
 * function itself does not change: all general registers are preserved.  The C part is built
 * without vector instructions, so vector and x87 registers are not touched.
 */
#define SAVED_BYTES 72
	.macro	SAVE
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	.cfi_adjust_cfa_offset SAVED_BYTES
	.endm

	.macro	RESTORE
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	.cfi_adjust_cfa_offset -SAVED_BYTES
	.endm

	.macro	FUNCTION name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.cfi_def_cfa_offset 16 /* the stub has pushed the function's number */
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/*
 * Entry sled, exit sled, and that before a jump to another function: next to the number lies the
 * return address of the function itself (8), or that of the call in the sled before it (16).
 */
	.macro	SLED name c_part where
	FUNCTION \name
	SAVE
	mov	SAVED_BYTES(%rsp), %edi
	lea	SAVED_BYTES+\where(%rsp), %rsi
	call	\c_part
	RESTORE
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END \name
	.endm

/* The call in the patched entry has pushed its return address below that of the function. */
	.macro	PATCHED name c_part
	FUNCTION \name
	SAVE
	mov	SAVED_BYTES(%rsp), %edi
	lea	SAVED_BYTES+16(%rsp), %rsi
	call	\c_part
	RESTORE
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END \name
	.endm

/*
 * In: the entry's number, and above it, where it was before, the return address.  The jump does not use up a prediction of
 * a `ret`: that of the function has used the one for its call.
 */
	.macro	RETURN name c_part
	FUNCTION \name
	SAVE
	mov	SAVED_BYTES(%rsp), %edi
	lea	SAVED_BYTES+8(%rsp), %rsi
	call	\c_part
	RESTORE
	lea	16(%rsp), %rsp
	.cfi_def_cfa %rsp, 0
	.cfi_offset %rip, -8
	jmp	*-8(%rsp)
	END \name
	.endm

	.text
	SLED	nsf_entry_sled, nsf_start, 16
	SLED	nsf_exit_sled, nsf_stop, 8
	SLED	nsf_tail_sled, nsf_stop, 16
	PATCHED	nsf_patched_entry, nsf_enter
	RETURN	nsf_return, nsf_leave
	SLED	nsf_entry_sled_calibration, nsf_start_calibration, 16
	SLED	nsf_exit_sled_calibration, nsf_stop_calibration, 8
	PATCHED	nsf_patched_entry_calibration, nsf_enter_calibration
	RETURN	nsf_return_calibration, nsf_leave_calibration

/*
 * A slot for each entry; its address is the return address of the function.  The unwind information
 * finds the original one, so that exceptions, backtraces and thread cancellation pass: it reads the
 * slot's own address below the stack pointer, takes the displacement from the instruction there,
 * and so has the entry's address.  A slot's frame has no bytes: as a signal's it is not taken for
 * that of the caller, in which unwinders then search the very address that they are given.
 */
#define PUSH_BYTES 6
	.macro	SLOTS name entries count return_to
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	.cfi_personality 0x1b, nsf_personality /* pcrel, sdata4 */
	.cfi_def_cfa %rsp, 0
	/*
	 * DW_CFA_expression: register 16 is saved at (DW_OP_) breg7 -8, deref: the slot; dup, plus_uconst 2,
	 * deref_size 4: the displacement; plus, plus_uconst: that of the instruction's end and in the entry.
	 */
	.cfi_escape 0x10, 16, 11, 0x77, 0x78, 0x06, 0x12, 0x23, 2, 0x94, 4, 0x22, 0x23, PUSH_BYTES + 24
	.fill	NSF_SLOT_BYTES, 1, 0x90 /* unwinders look up the byte before a return address */
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.set	number, 0
	.rept	\count
	pushq	\entries+NSF_ENTRY_BYTES*number(%rip)
	.byte	0x68 /* push, with a full word */
	.long	number
	.byte	0xe9 /* jmp */
	.long	\return_to - . - 4
	.set	number, number + 1
	.endr
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.hidden	nsf_personality
	.hidden	nsf_entries
	.hidden	nsf_calibration_entries
	SLOTS	nsf_slots, nsf_entries, NSF_ENTRIES, nsf_return
	SLOTS	nsf_calibration_slots, nsf_calibration_entries, NSF_BLOCK_ENTRIES, nsf_return_calibration

	.section .note.GNU-stack, "", @progbits
