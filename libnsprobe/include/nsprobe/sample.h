/* SPDX-License-Identifier: MIT */
/* Batch means -> trimmed mean and its interval: the statistic behind every calibrated figure. */
#ifndef NSPROBE_SAMPLE_H
#define NSPROBE_SAMPLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_estimate {
    double mean;
    double ci95; /* half width */
    uint32_t samples;
    uint32_t trimmed;
};

/*
 * Sorts values in place.  Trims a fifth at either end; the interval comes from the winsorised
 * variance.
 */
struct nsp_estimate nsp_trimmed_mean(double *values, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_SAMPLE_H */
