/* SPDX-License-Identifier: MIT */
/* Batch means taken in turns -> trimmed mean, and its interval for another point in time. */
#ifndef NSP_SAMPLE_TURNS_H
#define NSP_SAMPLE_TURNS_H

#include <stdint.h>

#include <nsprobe/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Values that drift from turn to turn continue to drift until the slices are measured, which may
 * all be close together in time: the error is that of the mean plus one more draw.  The draw counts
 * twice because a reader of the trace averages the calibrations of both ends, which halves the
 * variance of each, but not the variance in between.
 */
#define NSP_USES_OF_WANDER 2

/*
 * The trimmed mean of all values; its interval is for a value at another time, computed from the
 * differences between the turns: slow drift is common to the batches of one turn, which then amount
 * to fewer independent values than their number.  If the turns differ by no more than the spread of
 * their values explains, the interval is that of the mean only.  Turn t of `turns` has the values
 * from count * t / turns on.  `sorted` has room for `count` values.
 */
struct nsp_estimate nsp_trimmed_mean_of_turns(const double *values, double *sorted, uint32_t count,
                                              uint32_t turns);

/* Degrees of freedom of that interval; 0: no interval. */
uint32_t nsp_degrees_of_turns(uint32_t count, uint32_t turns);

#ifdef __cplusplus
}
#endif

#endif /* NSP_SAMPLE_TURNS_H */
