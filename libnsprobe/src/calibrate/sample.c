/* SPDX-License-Identifier: MIT */
/* Batch means -> trimmed mean; interval by winsorised variance (Tukey and McLaughlin 1963). */
#include "sample_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Two-sided 95 % quantile of Student's t; within 1 % from ten degrees of freedom on. */
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
        .ci95 =
            kept > 1 ? student_t(kept - 1) * sqrt(squares / (count - 1)) * sqrt(count) / kept : 0,
        .samples = count,
        .trimmed = 2 * cut,
    };
}

uint32_t nsp_degrees_of_turns(uint32_t count, uint32_t turns)
{
    const uint32_t kept = count - 2 * (count / 5);
    const uint32_t independent = turns >= 2 && count >= turns && turns < kept ? turns : kept;

    return independent > 0 ? independent - 1 : 0;
}

/* Sums of squares of the winsorised values, about their mean. */
struct turn_squares {
    double between; /* of the turns' sums */
    double within;  /* of the values, about their turn's mean */
};

static struct turn_squares squares_of(const double *values, uint32_t count, uint32_t turns,
                                      double lowest, double highest)
{
    struct turn_squares out = {0, 0};
    double sum = 0;

    for (uint32_t i = 0; i < count; ++i)
        sum += fmin(fmax(values[i], lowest), highest);
    for (uint32_t turn = 0; turn < turns; ++turn) {
        const uint32_t begin = (uint64_t)count * turn / turns,
                       end = (uint64_t)count * (turn + 1) / turns;
        double apart = 0, squares = 0;

        for (uint32_t i = begin; i < end; ++i) {
            const double off = fmin(fmax(values[i], lowest), highest) - sum / count;

            apart += off;
            squares += off * off;
        }
        out.between += apart * apart;
        out.within += squares - apart * apart / (end - begin);
    }
    return out;
}

/*
 * Variance of the part that is common to the values of a turn and differs between turns (analysis
 * of variance, random effects); 0 if the spread of the values can explain that of the turns.
 */
static double wander_variance(struct turn_squares squares, uint32_t count, uint32_t turns)
{
    const double least_ratio = 2.5; /* F(4, 95) exceeds it by chance in 1 of 20 cases */
    const double turn_values = (double)count / turns;
    const double of_turns = squares.between / (turns - 1) / turn_values;
    const double of_values = count > turns ? squares.within / (count - turns) : 0;

    return of_turns > least_ratio * of_values ? (of_turns - of_values) / turn_values : 0;
}

struct nsp_estimate nsp_trimmed_mean_of_turns(const double *values, double *sorted, uint32_t count,
                                              uint32_t turns)
{
    const uint32_t cut = count / 5, kept = count - 2 * cut;
    struct turn_squares squares;
    struct nsp_estimate out;
    double trim, of_mean;

    memcpy(sorted, values, count * sizeof(*values));
    out = nsp_trimmed_mean(sorted, count);
    if (turns < 2 || count < turns)
        return out;
    squares = squares_of(values, count, turns, sorted[cut], sorted[count - cut - 1]);
    trim = (double)count / kept;
    of_mean = squares.between * turns / (turns - 1) / count / count;
    out.ci95 = student_t(nsp_degrees_of_turns(count, turns)) * trim *
               sqrt(of_mean + NSP_USES_OF_WANDER * wander_variance(squares, count, turns));
    return out;
}
