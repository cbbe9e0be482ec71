/* SPDX-License-Identifier: MIT */
/* The experiment's design: arms of epochs and their lengths, drawn at random. */
#include "arms.h"

#include <string.h>

#define LEAST_MEAN_NS 1000000ull
#define MOST_MEAN_NS 100000000ull
#define MEANS_PER_AGE 1000 /* the mean is this part of the session's age */
#define LEAST_PART 8       /* of the mean: shorter epochs would hold no whole slice */
/* Readers take gaps in the list that are half as long as the shortest epoch for unknown epochs. */
#define MOST_PARTS 4

void nsp_arms_seed(struct nsp_arms *arms, uint64_t seed, uint32_t permille)
{
    arms->state = seed ? seed : 1;
    arms->permille = permille;
}

/* xorshift64* (Vigna 2016); the upper bits are the good ones. */
static uint32_t draw(struct nsp_arms *arms)
{
    arms->state ^= arms->state >> 12;
    arms->state ^= arms->state << 25;
    arms->state ^= arms->state >> 27;
    return (uint32_t)(arms->state * 2685821657736338717ull >> 32);
}

static uint32_t below(struct nsp_arms *arms, uint32_t limit)
{
    return (uint32_t)((uint64_t)draw(arms) * limit >> 32);
}

int nsp_arms_draw(struct nsp_arms *arms, const struct nsp_nesting *nesting,
                  uint8_t off[NSP_THIN_NAMES])
{
    memset(off, 0, NSP_THIN_NAMES);
    if (nesting->inner_count == 0 || below(arms, 1000) >= arms->permille)
        return 0;
    if (below(arms, 2) == 0) {
        off[nesting->inner[below(arms, nesting->inner_count)]] = 1;
    } else {
        const uint32_t level = 1 + below(arms, nesting->levels);

        for (uint32_t i = 0; i < nesting->inner_count; ++i)
            off[nesting->inner[i]] = nesting->level[nesting->inner[i]] >= level;
    }
    return 1;
}

/* -ln(u) for u = (draw + 1/2) / 2^32, by the binary exponent and a series: no libm in the library.
 */
static uint64_t exponential_permille(struct nsp_arms *arms)
{
    const uint64_t u = 2ull * draw(arms) + 1; /* of 2^33 */
    const int exponent = 63 - __builtin_clzll(u);
    const double mantissa = (double)u / (double)(1ull << exponent), /* 1 to 2 */
        y = (mantissa - 1) / (mantissa + 1), y2 = y * y;
    const double ln = 2 * y * (1 + y2 * (1 / 3.0 + y2 * (1 / 5.0 + y2 / 7))) +
                      (exponent - 33) * 0.6931471805599453;

    return (uint64_t)(-ln * 1000);
}

uint64_t nsp_arms_length_ns(struct nsp_arms *arms, uint64_t age_ns)
{
    uint64_t mean_ns = age_ns / MEANS_PER_AGE, length_ns;

    mean_ns = mean_ns < LEAST_MEAN_NS ? LEAST_MEAN_NS : mean_ns;
    mean_ns = mean_ns > MOST_MEAN_NS ? MOST_MEAN_NS : mean_ns;
    length_ns = mean_ns * exponential_permille(arms) / 1000;
    return length_ns < mean_ns / LEAST_PART   ? mean_ns / LEAST_PART
           : length_ns > mean_ns * MOST_PARTS ? mean_ns * MOST_PARTS
                                              : length_ns;
}
