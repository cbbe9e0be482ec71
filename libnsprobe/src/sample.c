/* SPDX-License-Identifier: MIT */
/* Batch means -> trimmed mean; interval after Tukey and McLaughlin (1963): winsorised variance, t on the values kept. */
#include <nsprobe/sample.h>

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Two-sided 95 % quantile of Student's t; from ten degrees of freedom on within 1 %. */
static double student_t(uint32_t degrees)
{
    static const double small[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};

    if (degrees == 0)
        return 0;
    if (degrees <= sizeof(small) / sizeof(small[0]))
        return small[degrees - 1];
    return 1.96 + 2.5 / degrees;
}

struct nsp_estimate nsp_trimmed_mean(double *values, uint32_t count)
{
    const uint32_t cut = count / 5, kept = count - 2 * cut;
    double sum = 0, winsorised_sum = 0, squares = 0, mean;

    if (count == 0)
        return (struct nsp_estimate){0, 0, 0, 0};
    qsort(values, count, sizeof(*values), ascending);
    for (uint32_t i = cut; i < count - cut; ++i)
        sum += values[i];
    winsorised_sum = sum + cut * (values[cut] + values[count - cut - 1]);
    mean = winsorised_sum / count;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = i < cut ? cut : i >= count - cut ? count - cut - 1 : i;

        squares += (values[at] - mean) * (values[at] - mean);
    }
    return (struct nsp_estimate){
        .mean = sum / kept,
        .ci95 = kept > 1 ? student_t(kept - 1) * sqrt(squares / (count - 1)) * sqrt(count) / kept : 0,
        .samples = count,
        .trimmed = 2 * cut,
    };
}
