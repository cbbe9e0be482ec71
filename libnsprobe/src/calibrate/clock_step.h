/* SPDX-License-Identifier: MIT */
/* Clock step: back-to-back readings -> granularity of the clock. */
#ifndef NSP_CLOCK_STEP_H
#define NSP_CLOCK_STEP_H

#include <stdint.h>

/*
 * In ticks, from differences in ascending order: the step of a clock that moves in steps, else
 * their common divisor.
 */
double nsp_clock_step_of(const uint32_t *differences, uint32_t count);

#endif /* NSP_CLOCK_STEP_H */
