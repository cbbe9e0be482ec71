/* SPDX-License-Identifier: MIT */
/* The probe on arm64 (little-endian): clock read and record, inside one restartable sequence.  Not API. */
#ifndef NSPROBE_DETAIL_ARCH_AARCH64_H
#define NSPROBE_DETAIL_ARCH_AARCH64_H

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

/*
 * The steps are the same as in arch_x86_64.h.  state: x0, site: x1, words: x2,
 * x9 and x10, thread pointer: x3, rseq area: x4, ring: x7, head: x16.
 *
 * The clock is CNTVCT_EL0, which every program may read; an ISB is the fence.
 * The commit is a store-release: the drain, on another CPU, must not see the
 * new head before the record.  Reading the room freed by the drain needs no acquire,
 * since no store is executed before the branch that checks for room.
 *
 * The cold half follows the function that contains the probe (subsection 1), within
 * reach of a conditional branch.  It preserves x30, so that a leaf function stays
 * one, and all registers except the listed ones (src/writer/arch_aarch64.S).
 */
#define NSP_DETAIL_STR_(x) #x
#define NSP_DETAIL_STR(x) NSP_DETAIL_STR_(x)

/* The probe's own site, emitted next to the code; "?" keeps it in the code's COMDAT group. */
#define NSP_DETAIL_ASM_SITE                                                                        \
    ".pushsection " NSP_DETAIL_SITE_SECTION ",\"aw?\",@progbits\n\t"                               \
    ".balign 32\n"                                                                                 \
    ".Lnsp_site_%=:\n\t"                                                                           \
    ".quad %[name], %[file]\n\t"                                                                   \
    ".long %c[line], %c[bits], 0, 0\n\t"                                                           \
    ".popsection\n\t"

/*
 * How x1 gets the site, in two steps of one instruction each, and how a field gets into a register
 * in between.  The 32 bytes of a site are in one page.  Where the site is given, the first step is
 * the compiler's own instruction.
 */
#define NSP_DETAIL_ASM_OWN_PAGE "adrp x1, .Lnsp_site_%=\n\t"
#define NSP_DETAIL_ASM_OWN_SITE "add x1, x1, :lo12:.Lnsp_site_%=\n\t"
#define NSP_DETAIL_ASM_OWN(n, offset)                                                              \
    "ldr w" n ", [x1, :lo12:.Lnsp_site_%=+" NSP_DETAIL_STR(offset) "]\n\t"
#define NSP_DETAIL_ASM_GIVEN_PAGE ""
#define NSP_DETAIL_ASM_GIVEN_SITE "nop\n\t"
#define NSP_DETAIL_ASM_GIVEN(n, offset) "ldr w" n ", [x1, #" NSP_DETAIL_STR(offset) "]\n\t"

#define NSP_DETAIL_ASM_NO_WORDS ""
#define NSP_DETAIL_ASM_WORD "str x2, [x6, #16]\n\t"
#define NSP_DETAIL_ASM_3_WORDS                                                                     \
    "stp x2, x9, [x6, #16]\n\t"                                                                    \
    "str x10, [x6, #32]\n\t"

/* x3: thread pointer, x4: rseq area */
#define NSP_DETAIL_ASM_ENTER                                                                       \
    "mrs x3, tpidr_el0\n\t"                                                                        \
    "ldr x4, [x0, #" NSP_DETAIL_STR(NSP_DETAIL_STATE_RSEQ) "]\n\t"                                 \
    "add x4, x3, x4\n"

/*
 * n: name of the sequence; field: NSP_DETAIL_ASM_OWN or _GIVEN; words: code that copies them; record_words:
 * of the record, head included.  The paired loads rely on stride and rings, and limit and mask, being adjacent.
 */
#define NSP_DETAIL_ASM_SEQUENCE(n, field, words, record_words)                                     \
    ".Lnsp_retry_" n "_%=:\n\t"                                                                    \
    "adrp x5, .Lnsp_cs_" n "_%=\n\t"                                                               \
    "add x5, x5, :lo12:.Lnsp_cs_" n "_%=\n\t"                                                      \
    "str x5, [x4, #8]\n"                                                                           \
    ".Lnsp_begin_" n "_%=:\n\t"                                                                    \
    "ldr w5, [x4, #4]\n\t"                                                                         \
    "ldr w6, [x0, #" NSP_DETAIL_STR(NSP_DETAIL_STATE_CPUS) "]\n\t"                                 \
    "cmp w5, w6\n\t"                                                                               \
    "b.hs .Lnsp_cold_%=\n\t"                                                                       \
    "ldp x6, x7, [x0, #" NSP_DETAIL_STR(NSP_DETAIL_STATE_STRIDE) "]\n\t"                           \
    "madd x7, x5, x6, x7\n\t"                                                                      \
    "ldr x16, [x7, #" NSP_DETAIL_STR(NSP_DETAIL_RING_HEAD) "]\n\t"                                 \
    "ldp w6, w17, [x7, #" NSP_DETAIL_STR(NSP_DETAIL_RING_LIMIT) "]\n\t"                            \
    "sub w6, w6, w16\n\t"                                                                          \
    "cmp w6, #" NSP_DETAIL_STR(record_words) "\n\t"                                                \
    "b.lt .Lnsp_cold_%=\n\t"                                                                       \
    "mrs x5, cntvct_el0\n\t"                                                                       \
    "and w6, w17, w16\n\t"                                                                         \
    "add x6, x7, x6, lsl #3\n\t"                                                                   \
    "add x6, x6, #" NSP_DETAIL_STR(NSP_DETAIL_RING_DATA) "\n\t"                                    \
    "str x5, [x6]\n\t"                                                                             \
    "adrp x5, :gottprel:nsp_detail_thread_id\n\t"                                                  \
    "ldr x5, [x5, :gottprel_lo12:nsp_detail_thread_id]\n\t"                                        \
    "ldr w5, [x3, x5]\n\t"                                                                         \
    "cbz w5, .Lnsp_cold_%=\n\t"                                                                    \
    field("17", NSP_DETAIL_SITE_HEAD_BITS)                                                         \
    "stp w5, w17, [x6, #8]\n\t"                                                                    \
    words                                                                                          \
    "mov x5, #0x100000000\n\t"                                                                     \
    "add x16, x16, #" NSP_DETAIL_STR(record_words) "\n\t"                                          \
    "add x16, x16, x5\n\t"                                                                         \
    "add x7, x7, #" NSP_DETAIL_STR(NSP_DETAIL_RING_HEAD) "\n\t"                                    \
    "stlr x16, [x7]\n"                                                                             \
    ".Lnsp_committed_" n "_%=:\n\t"                                                                \
    "str xzr, [x4, #8]\n\t"

#define NSP_DETAIL_ASM_ABORT(n)                                                                    \
    ".inst 0xd428bc00\n" /* brk: the signature that the kernel wants to see before the handler */  \
    ".Lnsp_abort_" n "_%=:\n\t"                                                                    \
    "b .Lnsp_retry_" n "_%=\n"

/* struct rseq_cs: the range that the kernel compares the instruction pointer with */
#define NSP_DETAIL_ASM_DESCRIPTOR(n)                                                               \
    ".balign 32\n"                                                                                 \
    ".Lnsp_cs_" n "_%=:\n\t"                                                                       \
    ".long 0, 0\n\t"                                                                               \
    ".quad .Lnsp_begin_" n "_%=, .Lnsp_committed_" n "_%= - .Lnsp_begin_" n "_%=, "                \
    ".Lnsp_abort_" n "_%=\n\t"

/*
 * state: symbol of the state; the others as above.  No load that directly follows an adrp and its
 * load uses the adrp's register as its base: at the end of a page, linkers take this for Cortex-A53
 * erratum 843419 and insert two branches, and a probe there would cost two instructions more than
 * the others.  Out of line, w3 is the offset of the function in the state: a mode, of which only
 * ORDERED has bit 2, or that of the sequences' cold path.
 */
#define NSP_DETAIL_ASM_PROBE(state, site, field, words, record_words)                              \
    field##_PAGE field("3", NSP_DETAIL_SITE_MODE)                                                  \
    "cbz w3, .Lnsp_done_%=\n\t"                                                                    \
    "adrp x4, :got:" state "\n\t"                                                                  \
    "ldr x0, [x4, :got_lo12:" state "]\n\t"                                                        \
    "cmp w3, #" NSP_DETAIL_STR(NSP_DETAIL_MODE_INLINE) "\n\t"                                      \
    "b.ne .Lnsp_other_%=\n\t"                                                                      \
    NSP_DETAIL_ASM_ENTER                                                                           \
    NSP_DETAIL_ASM_SEQUENCE("fast", field, words, record_words)                                     \
    ".Lnsp_done_%=:\n\t"                                                                           \
    ".subsection 1\n\t"                                                                            \
    NSP_DETAIL_ASM_ABORT("fast")                                                                   \
    ".Lnsp_other_%=:\n\t"                                                                          \
    "tbz w3, #2, .Lnsp_call_%=\n\t"                                                                \
    "isb\n\t"                                                                                      \
    NSP_DETAIL_ASM_ENTER                                                                           \
    NSP_DETAIL_ASM_SEQUENCE("ordered", field, words, record_words)                                  \
    "isb\n\t"                                                                                      \
    "b .Lnsp_done_%=\n\t"                                                                          \
    NSP_DETAIL_ASM_ABORT("ordered")                                                                \
    ".Lnsp_cold_%=:\n\t"                                                                           \
    "mov w3, #" NSP_DETAIL_STR(NSP_DETAIL_STATE_GENERAL) "\n"                                      \
    ".Lnsp_call_%=:\n\t"                                                                           \
    site                                                                                           \
    "str x30, [sp, #-16]!\n\t"                                                                     \
    "ldr x16, [x0, x3]\n\t"                                                                        \
    "blr x16\n\t"                                                                                  \
    "ldr x30, [sp], #16\n\t"                                                                       \
    "b .Lnsp_done_%=\n\t"                                                                          \
    ".previous\n\t"                                                                                \
    ".pushsection nsprobe_cs,\"aw?\",@progbits\n\t"                                                \
    NSP_DETAIL_ASM_DESCRIPTOR("fast")                                                              \
    NSP_DETAIL_ASM_DESCRIPTOR("ordered")                                                           \
    ".popsection\n\t"

/*
 * What a probe may change besides memory; x1 only where it is not an input.  The cold half makes
 * system calls, across which the kernel preserves only the part of the scalable vector registers
 * that they share with the others.
 */
#ifdef __ARM_FEATURE_SVE
#define NSP_DETAIL_CLOBBERS                                                                        \
    "x0", "x3", "x4", "x5", "x6", "x7", "x16", "x17", "cc", "memory", "z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", \
        "z8", "z9", "z10", "z11", "z12", "z13", "z14", "z15", "z16", "z17", "z18", "z19", "z20", "z21", "z22", "z23", \
        "z24", "z25", "z26", "z27", "z28", "z29", "z30", "z31", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", \
        "p9", "p10", "p11", "p12", "p13", "p14", "p15"
#else
#define NSP_DETAIL_CLOBBERS "x0", "x3", "x4", "x5", "x6", "x7", "x16", "x17", "cc", "memory"
#endif

/* "S": the address of a symbol, also in position-independent code. */
#define NSP_DETAIL_SITE_INPUTS(site_name, site_kind, site_words)                                   \
    [name] "S"(site_name), [file] "S"(__FILE__), [line] "i"(__LINE__),                             \
        [bits] "i"(NSP_DETAIL_HEAD_BITS(site_kind, site_words))

/* Registers of the site and of a record's words. */
#define NSP_DETAIL_SITE_REGISTER "x1"
#define NSP_DETAIL_WORD0_REGISTER "x2"
#define NSP_DETAIL_WORD1_REGISTER "x9"
#define NSP_DETAIL_WORD2_REGISTER "x10"

#endif /* NSPROBE_DETAIL_ARCH_AARCH64_H */
