/* SPDX-License-Identifier: MIT */
/* Functions for calibration: patched as others are, and the same without sleds or entries. */

/* As the work of libnsprobe's own calibration loops, in their register. */
#define WORK .rept 32; imul %r12, %r12; .endr

	.text
	.macro	FUNCTION name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* As the stubs near an object: stubs.c. */
	.macro	STUB name target
	.p2align 4
\name:
	.byte	0x68 /* push, with a full word */
	.long	0
	jmp	*\target(%rip)
	.endm

	.macro	CALL_STUB stub
	.byte	0xe8
	.long	\stub - . - 4
	.endm

	STUB	entry_sled, .Lentry_sled
	STUB	exit_sled, .Lexit_sled
	STUB	patched_entry, .Lpatched_entry

	FUNCTION nsf_sled_empty
	CALL_STUB entry_sled
	nopw	0x0(%rax, %rax, 1)
	.byte	0xe9
	.long	exit_sled - . - 4
	END nsf_sled_empty

	FUNCTION nsf_sled_work
	CALL_STUB entry_sled
	nopw	0x0(%rax, %rax, 1)
	WORK
	.byte	0xe9
	.long	exit_sled - . - 4
	END nsf_sled_work

	FUNCTION nsf_entry_empty
	CALL_STUB patched_entry
	ret
	END nsf_entry_empty

	FUNCTION nsf_entry_work
	CALL_STUB patched_entry
	WORK
	ret
	END nsf_entry_work

	FUNCTION nsf_bare_empty
	ret
	END nsf_bare_empty

	FUNCTION nsf_bare_work
	WORK
	ret
	END nsf_bare_work

	.section .data.rel.ro, "aw", @progbits
	.balign	8
.Lentry_sled:
	.quad	nsf_entry_sled_calibration
.Lexit_sled:
	.quad	nsf_exit_sled_calibration
.Lpatched_entry:
	.quad	nsf_patched_entry_calibration

	.section .note.GNU-stack, "", @progbits
