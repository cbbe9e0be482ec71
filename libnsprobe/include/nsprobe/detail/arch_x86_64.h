/* SPDX-License-Identifier: MIT */
/* The probe on x86-64: clock read and record, inside one restartable sequence.  Not API. */
#ifndef NSPROBE_DETAIL_ARCH_X86_64_H
#define NSPROBE_DETAIL_ARCH_X86_64_H

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

/*
 * In steps (state: %rdi, site: %rsi where needed, words: %r10 to %r12, ring: %r8, head: %r9):
 *
 *	the site's own place: while it is on, a jump to `on`; while it is off, a no-op
 *	or, if the site is given: if site.mode == OFF: done
 *  on, in .text.nsprobe_on:
 *	if site.mode != INLINE: continue in the cold half, or, if it is OFF by now: done
 *  retry:
 *	thread.rseq_cs = this sequence           -- monitored by the kernel from here
 *	cpu = thread.cpu_id; if cpu >= state.cpus: cold
 *	ring = state.rings + cpu * state.stride_bytes
 *	if ring.limit - head < record size: cold -- full, or closing
 *	record = data(ring, head)
 *	record.ticks = clock                     -- inside, so ticks increase within a ring
 *	record.thread_id = tid; if tid == 0: cold -- first probe of the thread
 *	record.slice_id, kind, words = site.head_bits
 *	record.words = words
 *	ring.head = head + step                  -- commit, the sequence's last instruction
 *	thread.rseq_cs = 0                       -- so that the object may be unloaded later
 *
 *	continue after the probe
 *
 * The code of a probe that is on is in a section of its own, so that code whose probes are off stays
 * dense.  It has no unwind information, since where the frame is depends on the function.
 *
 * The cold half has a second copy of the sequence, between two fences, for mode
 * ORDERED: a branch in the first copy would slow down every record of mode INLINE,
 * whose instructions hide behind the clock read as long as there are few of them.
 *
 * The fences are at both ends of the probe and not at the clock read: neither the
 * probe nor the code around it then overlaps the other, so the cost of a probe does
 * not depend on its surroundings and can be subtracted.
 *
 * Preemption, migration or a signal between `retry` and the commit makes the
 * kernel jump to the abort handler, which starts again: the record of another
 * thread may have taken the place.
 *
 * It is a single asm statement so that the number of instructions is the same at
 * every site and in the calibration: the correction is exact only in this case.
 *
 * The cold path preserves the red zone and all registers except the listed ones
 * (src/writer/arch_x86_64.S), so a probe clobbers no vector register of the code around it.
 */
#define NSP_DETAIL_STR_(x) #x
#define NSP_DETAIL_STR(x) NSP_DETAIL_STR_(x)

/* The probe's own site, emitted next to the code; "?" keeps it in the code's COMDAT group. */
#define NSP_DETAIL_ASM_SITE                                                                        \
    ".pushsection " NSP_DETAIL_SITE_SECTION ",\"aw?\",@progbits\n\t"                               \
    ".balign 32\n"                                                                                 \
    ".Lnsp_site_%=:\n\t"                                                                           \
    ".quad %c[name], %c[file]\n\t"                                                                 \
    ".long %c[line], %c[bits], 0, 0\n\t"                                                           \
    ".popsection\n\t"

/*
 * Where a field of the site is, and how the cold path gets the site into %rsi.  That is one instruction at
 * every site: the compiler's own, if the site is given.
 */
#define NSP_DETAIL_ASM_OWN(offset) ".Lnsp_site_%=+" NSP_DETAIL_STR(offset) "(%%rip)"
#define NSP_DETAIL_ASM_OWN_SITE "lea .Lnsp_site_%=(%%rip), %%rsi\n\t"
#define NSP_DETAIL_ASM_GIVEN(offset) NSP_DETAIL_STR(offset) "(%%rsi)"
#define NSP_DETAIL_ASM_GIVEN_SITE "" /* %rsi is an input */

/*
 * The instructions in the code around the probe, which are all that one that is off executes.
 * Where the site is given, they compare its mode.  Where it is the probe's own, there is a place: a
 * jump, or a no-op that the library writes over it while the site is off (src/sites/places.h).  The
 * jump's five bytes are in one aligned word, so that a single store replaces them.  Bytes that this
 * requires before them are prefixes without effect: an instruction is something that not every probe
 * would have.  Up to their C code, both kinds execute the same numbers of instructions and branches,
 * if the compiler loads a given site with one.
 */
#define NSP_DETAIL_ASM_GIVEN_ENTRY                                                                 \
    "mov " NSP_DETAIL_ASM_GIVEN(NSP_DETAIL_SITE_MODE) ", %%eax\n\t"                                \
    "cmp $" NSP_DETAIL_STR(NSP_DETAIL_MODE_INLINE) ", %%eax\n\t"                                   \
    "jae .Lnsp_on_%=\n"
#define NSP_DETAIL_ASM_GIVEN_MODE "" /* compared already */
#define NSP_DETAIL_ASM_OWN_ENTRY                                                                   \
    ".p2align 3, 0x2e, 4\n"                                                                        \
    ".Lnsp_place_%=:\n\t"                                                                          \
    "jmp .Lnsp_on_%=\n\t"                                                                          \
    ".pushsection " NSP_DETAIL_SITE_SECTION "_places,\"ao?\",@progbits,.Lnsp_place_%=\n\t"          \
    ".balign 4\n\t"                                                                                \
    ".long .Lnsp_site_%= - .\n\t"                                                                  \
    ".long .Lnsp_place_%= - .\n\t"                                                                 \
    ".long .Lnsp_on_%= - .\n\t"                                                                    \
    ".popsection\n"
#define NSP_DETAIL_ASM_OWN_MODE                                                                    \
    "mov " NSP_DETAIL_ASM_OWN(NSP_DETAIL_SITE_MODE) ", %%eax\n\t"                                  \
    "cmp $" NSP_DETAIL_STR(NSP_DETAIL_MODE_INLINE) ", %%eax\n\t"

#define NSP_DETAIL_ASM_NO_WORDS ""
#define NSP_DETAIL_ASM_WORD "mov %%r10, 16(%%rdx)\n\t"
#define NSP_DETAIL_ASM_3_WORDS                                                                     \
    NSP_DETAIL_ASM_WORD                                                                            \
    "mov %%r11, 24(%%rdx)\n\t"                                                                     \
    "mov %%r12, 32(%%rdx)\n\t"

/*
 * n: name of the sequence; field: NSP_DETAIL_ASM_OWN or _GIVEN; words: code that copies them; record_words:
 * of the record, head included
 */
#define NSP_DETAIL_ASM_SEQUENCE(n, field, words, record_words)                                     \
    ".Lnsp_retry_" n "_%=:\n\t"                                                                    \
    "lea .Lnsp_cs_" n "_%=(%%rip), %%rax\n\t"                                                      \
    "mov %%rax, %%fs:8(%%rcx)\n"                                                                   \
    ".Lnsp_begin_" n "_%=:\n\t"                                                                    \
    "mov %%fs:4(%%rcx), %%r8d\n\t"                                                                 \
    "cmp " NSP_DETAIL_STR(NSP_DETAIL_STATE_CPUS) "(%%rdi), %%r8d\n\t"                              \
    "jae .Lnsp_cold_%=\n\t"                                                                        \
    "imul " NSP_DETAIL_STR(NSP_DETAIL_STATE_STRIDE) "(%%rdi), %%r8\n\t"                            \
    "add " NSP_DETAIL_STR(NSP_DETAIL_STATE_RINGS) "(%%rdi), %%r8\n\t"                              \
    "mov " NSP_DETAIL_STR(NSP_DETAIL_RING_HEAD) "(%%r8), %%r9\n\t"                                 \
    "mov " NSP_DETAIL_STR(NSP_DETAIL_RING_LIMIT) "(%%r8), %%eax\n\t"                               \
    "sub %%r9d, %%eax\n\t"                                                                         \
    "cmp $" NSP_DETAIL_STR(record_words) ", %%eax\n\t"                                             \
    "jl .Lnsp_cold_%=\n\t"                                                                         \
    "rdtsc\n\t"                                                                                    \
    "shl $32, %%rdx\n\t"                                                                           \
    "or %%rdx, %%rax\n\t"                                                                          \
    "mov %%r9d, %%edx\n\t"                                                                         \
    "and " NSP_DETAIL_STR(NSP_DETAIL_RING_MASK) "(%%r8), %%edx\n\t"                                \
    "lea " NSP_DETAIL_STR(NSP_DETAIL_RING_DATA) "(%%r8,%%rdx,8), %%rdx\n\t"                        \
    "mov %%rax, (%%rdx)\n\t"                                                                       \
    "mov nsp_detail_thread_id@gottpoff(%%rip), %%rax\n\t"                                          \
    "mov %%fs:(%%rax), %%eax\n\t"                                                                  \
    "test %%eax, %%eax\n\t"                                                                        \
    "je .Lnsp_cold_%=\n\t"                                                                         \
    "mov %%eax, 8(%%rdx)\n\t"                                                                      \
    "mov " field(NSP_DETAIL_SITE_HEAD_BITS) ", %%eax\n\t"                                          \
    "mov %%eax, 12(%%rdx)\n\t"                                                                     \
    words                                                                                          \
    "add .Lnsp_step_%=(%%rip), %%r9\n\t"                                                           \
    "mov %%r9, " NSP_DETAIL_STR(NSP_DETAIL_RING_HEAD) "(%%r8)\n"                                   \
    ".Lnsp_committed_" n "_%=:\n\t"                                                                \
    "movq $0, %%fs:8(%%rcx)\n\t"

#define NSP_DETAIL_ASM_ABORT(n)                                                                    \
    ".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1: the signature below reads as its operand */               \
    ".long 0x53053053\n"                                                                           \
    ".Lnsp_abort_" n "_%=:\n\t"                                                                    \
    "jmp .Lnsp_retry_" n "_%=\n"

/* struct rseq_cs: the range that the kernel compares the instruction pointer with */
#define NSP_DETAIL_ASM_DESCRIPTOR(n)                                                               \
    ".balign 32\n"                                                                                 \
    ".Lnsp_cs_" n "_%=:\n\t"                                                                       \
    ".long 0, 0\n\t"                                                                               \
    ".quad .Lnsp_begin_" n "_%=, .Lnsp_committed_" n "_%= - .Lnsp_begin_" n "_%=, "                \
    ".Lnsp_abort_" n "_%=\n\t"

/* state: symbol of the state; the others as above */
#define NSP_DETAIL_ASM_PROBE(state, site, field, words, record_words)                              \
    field##_ENTRY                                                                                  \
    ".Lnsp_done_%=:\n\t"                                                                           \
    ".pushsection .text.nsprobe_on,\"ax?\",@progbits\n"                                            \
    ".Lnsp_on_%=:\n\t"                                                                             \
    field##_MODE                                                                                   \
    "mov " state "@GOTPCREL(%%rip), %%rdi\n\t"                                                     \
    "jne .Lnsp_other_%=\n\t"                                                                       \
    "mov " NSP_DETAIL_STR(NSP_DETAIL_STATE_RSEQ) "(%%rdi), %%rcx\n"                                \
    NSP_DETAIL_ASM_SEQUENCE("fast", field, words, record_words)                                     \
    "jmp .Lnsp_done_%=\n\t"                                                                        \
    ".popsection\n\t"                                                                              \
    ".pushsection .text.nsprobe_cold,\"ax?\",@progbits\n\t"                                        \
    NSP_DETAIL_ASM_ABORT("fast")                                                                   \
    ".Lnsp_other_%=:\n\t"                                                                          \
    "jb .Lnsp_done_%=\n\t" /* less than INLINE: OFF */                                             \
    "cmp $" NSP_DETAIL_STR(NSP_DETAIL_MODE_ORDERED) ", %%eax\n\t"                                  \
    "jne .Lnsp_cold_%=\n\t"                                                                        \
    "lfence\n\t"                                                                                   \
    "mov " NSP_DETAIL_STR(NSP_DETAIL_STATE_RSEQ) "(%%rdi), %%rcx\n"                                \
    NSP_DETAIL_ASM_SEQUENCE("ordered", field, words, record_words)                                  \
    "lfence\n\t"                                                                                   \
    "jmp .Lnsp_done_%=\n\t"                                                                        \
    NSP_DETAIL_ASM_ABORT("ordered")                                                                \
    ".Lnsp_cold_%=:\n\t"                                                                           \
    site                                                                                           \
    "lea -128(%%rsp), %%rsp\n\t"                                                                   \
    "call *nsp_detail_general@GOTPCREL(%%rip)\n\t"                                                 \
    "lea 128(%%rsp), %%rsp\n\t"                                                                    \
    "jmp .Lnsp_done_%=\n\t"                                                                        \
    ".popsection\n\t"                                                                              \
    ".pushsection nsprobe_cs,\"aw?\",@progbits\n\t"                                                \
    NSP_DETAIL_ASM_DESCRIPTOR("fast")                                                              \
    NSP_DETAIL_ASM_DESCRIPTOR("ordered")                                                           \
    ".popsection\n\t"                                                                              \
    ".pushsection .rodata.cst8,\"aM\",@progbits,8\n\t" /* one of each value in the linked file */  \
    ".balign 8\n"                                                                                  \
    ".Lnsp_step_%=:\n\t"                                                                           \
    ".quad (1 << 32) + " NSP_DETAIL_STR(record_words) "\n\t"                                       \
    ".popsection\n\t"

/* What a probe may change besides memory; %rsi is listed only where it is not an input. */
#define NSP_DETAIL_CLOBBERS "rax", "rcx", "rdx", "rdi", "r8", "r9", "cc", "memory"

#define NSP_DETAIL_SITE_INPUTS(site_name, site_kind, site_words)                                   \
    [name] "i"(site_name), [file] "i"(__FILE__), [line] "i"(__LINE__),                             \
        [bits] "i"(NSP_DETAIL_HEAD_BITS(site_kind, site_words))

/* Registers of the site and of a record's words. */
#define NSP_DETAIL_SITE_REGISTER "rsi"
#define NSP_DETAIL_WORD0_REGISTER "r10"
#define NSP_DETAIL_WORD1_REGISTER "r11"
#define NSP_DETAIL_WORD2_REGISTER "r12"

#endif /* NSPROBE_DETAIL_ARCH_X86_64_H */
