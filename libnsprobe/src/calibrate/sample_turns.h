/* SPDX-License-Identifier: MIT */
/* Batch means taken in turns -> trimmed mean, and how far off what it stands for may be at another time. */
#ifndef NSP_SAMPLE_TURNS_H
#define NSP_SAMPLE_TURNS_H

#include <stdint.h>

#include <nsprobe/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What wanders from turn to turn wanders on until the slices are measured, which may all lie close together: the
 * mean's error and one more draw.  The draw counts twice, for a trace's reader averages the calibrations of both
 * ends, which halves the variance of either, but not that of what lies between them.
 */
#define NSP_USES_OF_WANDER 2

/*
 * The trimmed mean of all values; its interval is for a value at another time, and comes from how far the turns lie
 * apart: what wanders slowly is the same for the batches of one turn, which are then fewer independent values than
 * they are.  Where turns differ by no more than their values' spread explains, it is that of the mean alone.  Turn t
 * of `turns` has the values from count * t / turns on.  `sorted` has room for `count` values.
 */
struct nsp_estimate nsp_trimmed_mean_of_turns(const double *values, double *sorted, uint32_t count, uint32_t turns);

/* Degrees of freedom of that interval; 0: it has none. */
uint32_t nsp_degrees_of_turns(uint32_t count, uint32_t turns);

#ifdef __cplusplus
}
#endif

#endif /* NSP_SAMPLE_TURNS_H */
