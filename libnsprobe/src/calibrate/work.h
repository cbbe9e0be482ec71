/* SPDX-License-Identifier: MIT */
/* Parts of calibration's loops: work for probes to hide behind, and the repeated body. */
#ifndef NSP_CALIBRATE_WORK_H
#define NSP_CALIBRATE_WORK_H

#include <stdint.h>

#include "writer/arch.h"

/*
 * 32 multiplications, each of which waits for the one before it: they take longer than a pair, so
 * that a pair may be hidden entirely.
 */
#define NSP_FOUR_MULTIPLY NSP_MULTIPLY NSP_MULTIPLY NSP_MULTIPLY NSP_MULTIPLY
#define NSP_WORK(value)                                                                          \
    __asm__ volatile(NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY     \
                         NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY NSP_FOUR_MULTIPLY \
                     : "+r"(value))

/*
 * 256 of them: a processor that executes out of order holds fewer instructions that wait (Golden
 * Cove: some 97), and a clock read overtakes no more.  A loop that no compiler unrolls, so that its
 * code does not displace that of the other loops; its counter runs ahead of the work.
 */
#define NSP_LONG_WORK(value)                    \
    for (int part_ = 0; part_ < 8; ++part_) {   \
        NSP_WORK(value);                        \
        __asm__ volatile("" : "+r"(part_) : :); \
    }

/* Number of consecutive rounds before a loop's own branch. */
#define NSP_LOOP_UNROLLED 8

#define NSP_EIGHT_TIMES(...) \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__;             \
    __VA_ARGS__

/* Runs the unrolled body rounds / NSP_LOOP_UNROLLED times. */
#define NSP_RUN_ROUNDS(rounds, ...)                                  \
    do {                                                             \
        for (uint32_t i = 0; i < (rounds); i += NSP_LOOP_UNROLLED) { \
            NSP_EIGHT_TIMES(__VA_ARGS__);                            \
        }                                                            \
    } while (0)

#endif /* NSP_CALIBRATE_WORK_H */
