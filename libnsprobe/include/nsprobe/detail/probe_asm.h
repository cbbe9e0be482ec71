/* SPDX-License-Identifier: MIT */
/* The probe as an asm statement: the part common to all architectures.  Not API. */
#ifndef NSPROBE_DETAIL_PROBE_ASM_H
#define NSPROBE_DETAIL_PROBE_ASM_H

#include <stdint.h>

#include <nsprobe/detail/site.h>

/*
 * Defined by the architecture: NSP_DETAIL_ASM_... (the instructions), NSP_DETAIL_CLOBBERS (what
 * they may change besides memory and the site's register), NSP_DETAIL_SITE_INPUTS,
 * NSP_DETAIL_SITE_REGISTER, NSP_DETAIL_WORD0_REGISTER to WORD2.
 */

/* Sizes of records with one word (MARK) and three (INIT). */
#define NSP_DETAIL_1_WORD (NSLICE_HEAD_WORDS + NSLICE_MARK_WORDS)
#define NSP_DETAIL_3_WORDS (NSLICE_HEAD_WORDS + NSLICE_INIT_WORDS)

/* A record without words of its own: START, STOP, EXIT. */
#define NSP_DETAIL_PROBE(state, site_name, site_kind)                                   \
    __asm__ __inline__ volatile(NSP_DETAIL_ASM_SITE NSP_DETAIL_ASM_PROBE(               \
                                    state, NSP_DETAIL_ASM_OWN_SITE, NSP_DETAIL_ASM_OWN, \
                                    NSP_DETAIL_ASM_NO_WORDS, NSLICE_HEAD_WORDS)         \
                                : /* no output */                                       \
                                : NSP_DETAIL_SITE_INPUTS(site_name, site_kind, 0)       \
                                : NSP_DETAIL_CLOBBERS, NSP_DETAIL_SITE_REGISTER)

/* A record at a site that the caller provides: slices named at run time. */
#define NSP_DETAIL_PROBE_AT(state, site_pointer)                                         \
    do {                                                                                 \
        register const struct nsp_site *nsp_site_ __asm__(NSP_DETAIL_SITE_REGISTER) =    \
            (site_pointer);                                                              \
        __asm__ __inline__ volatile(                                                     \
            NSP_DETAIL_ASM_PROBE(state, NSP_DETAIL_ASM_GIVEN_SITE, NSP_DETAIL_ASM_GIVEN, \
                                 NSP_DETAIL_ASM_NO_WORDS, NSLICE_HEAD_WORDS)             \
            : "+r"(nsp_site_)                                                            \
            : /* no further input */                                                     \
            : NSP_DETAIL_CLOBBERS);                                                      \
    } while (0)

/*
 * A record with one word (MARK) or three (INIT).  The words are in registers, so what a probe
 * itself executes does not depend on where they come from: computing them is the program's own
 * work.
 */
#define NSP_DETAIL_PROBE_1(state, site_name, site_kind, word)                                 \
    do {                                                                                      \
        register uint64_t nsp_word_ __asm__(NSP_DETAIL_WORD0_REGISTER) = (uint64_t)(word);    \
        __asm__ __inline__ volatile(                                                          \
            NSP_DETAIL_ASM_SITE NSP_DETAIL_ASM_PROBE(state, NSP_DETAIL_ASM_OWN_SITE,          \
                                                     NSP_DETAIL_ASM_OWN, NSP_DETAIL_ASM_WORD, \
                                                     NSP_DETAIL_1_WORD)                       \
            : /* no output */                                                                 \
            : NSP_DETAIL_SITE_INPUTS(site_name, site_kind, NSLICE_MARK_WORDS), "r"(nsp_word_) \
            : NSP_DETAIL_CLOBBERS, NSP_DETAIL_SITE_REGISTER);                                 \
    } while (0)

#define NSP_DETAIL_PROBE_3(state, site_name, site_kind, word0, word1, word2)                     \
    do {                                                                                         \
        /* all computed before a register is bound: a call in one would spoil the others */      \
        const uint64_t nsp_value0_ = (uint64_t)(word0);                                          \
        const uint64_t nsp_value1_ = (uint64_t)(word1);                                          \
        const uint64_t nsp_value2_ = (uint64_t)(word2);                                          \
        register uint64_t nsp_word0_ __asm__(NSP_DETAIL_WORD0_REGISTER) = nsp_value0_;           \
        register uint64_t nsp_word1_ __asm__(NSP_DETAIL_WORD1_REGISTER) = nsp_value1_;           \
        register uint64_t nsp_word2_ __asm__(NSP_DETAIL_WORD2_REGISTER) = nsp_value2_;           \
        __asm__ __inline__ volatile(                                                             \
            NSP_DETAIL_ASM_SITE NSP_DETAIL_ASM_PROBE(state, NSP_DETAIL_ASM_OWN_SITE,             \
                                                     NSP_DETAIL_ASM_OWN, NSP_DETAIL_ASM_3_WORDS, \
                                                     NSP_DETAIL_3_WORDS)                         \
            : /* no output */                                                                    \
            : NSP_DETAIL_SITE_INPUTS(site_name, site_kind, NSLICE_INIT_WORDS), "r"(nsp_word0_),  \
              "r"(nsp_word1_), "r"(nsp_word2_)                                                   \
            : NSP_DETAIL_CLOBBERS, NSP_DETAIL_SITE_REGISTER);                                    \
    } while (0)

/*
 * Declares three values already in the registers for a record's words: calibration and tests need
 * the bare probe.
 */
#define NSP_DETAIL_WORDS(word0, word1, word2)                       \
    register uint64_t word0 __asm__(NSP_DETAIL_WORD0_REGISTER) = 1; \
    register uint64_t word1 __asm__(NSP_DETAIL_WORD1_REGISTER) = 1; \
    register uint64_t word2 __asm__(NSP_DETAIL_WORD2_REGISTER) = 1; \
    __asm__ volatile("" : "+r"(word0), "+r"(word1), "+r"(word2))

#endif /* NSPROBE_DETAIL_PROBE_ASM_H */
