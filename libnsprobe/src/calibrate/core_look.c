/* SPDX-License-Identifier: MIT */
/* Looks at a core: chains of dependent and of independent operations, and gaps between clock reads.
 */
#include <nsprobe/core_look.h>

#include <stdlib.h>

#include "writer/arch.h"

/*
 * A chain of multiplications leaves most of the core to a sibling thread; independent additions
 * need all of it, and take some 1.6 times as long if it has work of its own.
 */
#define DEPENDENT 4096 /* long enough for clocks that move in steps of 10 ns */
#define INDEPENDENT 16384
#define UNROLLED 32
#define REPEATS 3 /* the fastest counts: an interrupt is a gap, not a slower core */
#define CLOCK_READS 300
#define SHARED_TOLERANCE 1.1

#if defined(__x86_64__)
#define ADDITIONS "inc %0\n\tinc %1\n\tinc %2\n\tinc %3\n\t"
/* Of Intel's and AMD's large cores; small ones may take longer, and then seem slower. */
#define CYCLES_PER_DEPENDENT 3.0
/* Large cores add three times or more in a cycle. */
#define MOST_CYCLES_ALONE 0.36
#else
#define ADDITIONS "add %0, %0, #1\n\tadd %1, %1, #1\n\tadd %2, %2, #1\n\tadd %3, %3, #1\n\t"
#define CYCLES_PER_DEPENDENT 0.0
#define MOST_CYCLES_ALONE 0.0
#endif

static double dependent_ticks(void)
{
    uint64_t value = 3;
    const uint64_t begin = nsp_clock_read(1);

    for (int i = 0; i < DEPENDENT; i += UNROLLED)
        __asm__ volatile(".rept 32\n\t" NSP_MULTIPLY ".endr" : "+r"(value));
    return (double)(nsp_clock_read(1) - begin) / DEPENDENT;
}

static double independent_ticks(void)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    const uint64_t begin = nsp_clock_read(1);

    for (int i = 0; i < INDEPENDENT; i += 4 * UNROLLED)
        __asm__ volatile(".rept 32\n\t" ADDITIONS ".endr"
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                         :
                         : "cc");
    return (double)(nsp_clock_read(1) - begin) / INDEPENDENT;
}

static double longest_gap_ticks(void)
{
    uint64_t last = nsp_clock_read(0), longest = 0;

    for (int i = 0; i < CLOCK_READS; ++i) {
        const uint64_t now = nsp_clock_read(0);

        if (now > last && now - last > longest)
            longest = now - last;
        last = now;
    }
    return (double)longest;
}

void nsp_core_look_read(struct nsp_core_look *look)
{
    look->dependent_ticks = dependent_ticks();
    look->independent_ticks = independent_ticks();
    for (int i = 1; i < REPEATS; ++i) {
        const double dependent = dependent_ticks(), independent = independent_ticks();

        if (dependent < look->dependent_ticks)
            look->dependent_ticks = dependent;
        if (independent < look->independent_ticks)
            look->independent_ticks = independent;
    }
    look->longest_gap_ticks = longest_gap_ticks();
}

static double ratio_of(const struct nsp_core_look *look)
{
    return look->dependent_ticks > 0 ? look->independent_ticks / look->dependent_ticks : 0;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ratio_of(a), y = ratio_of(b);

    return (x > y) - (x < y);
}

static int by_dependent(const void *a, const void *b)
{
    const double x = ((const struct nsp_core_look *)a)->dependent_ticks,
                 y = ((const struct nsp_core_look *)b)->dependent_ticks;

    return (x > y) - (x < y);
}

void nsp_core_summarise(struct nsp_core_look *looks, uint32_t count, double alone_ratio,
                        struct nsp_core_summary *out)
{
    const double most_alone =
        CYCLES_PER_DEPENDENT > 0 ? MOST_CYCLES_ALONE / CYCLES_PER_DEPENDENT : 0;
    double limit, median;

    *out = (struct nsp_core_summary){.looks = count, .alone_ratio = alone_ratio};
    if (count == 0)
        return;
    qsort(looks, count, sizeof(*looks), by_ratio);
    if (alone_ratio <= 0 || ratio_of(&looks[count / 10]) < alone_ratio)
        out->alone_ratio = ratio_of(&looks[count / 10]);
    limit = SHARED_TOLERANCE * out->alone_ratio;
    if (most_alone > 0 && limit > most_alone)
        limit = most_alone;
    for (uint32_t i = 0; i < count; ++i) {
        out->shared += ratio_of(&looks[i]) > limit;
        if (looks[i].longest_gap_ticks > out->longest_gap_ticks)
            out->longest_gap_ticks = looks[i].longest_gap_ticks;
    }
    qsort(looks, count, sizeof(*looks), by_dependent);
    median = looks[count / 2].dependent_ticks;
    if (median <= 0)
        return;
    out->cycles_per_tick = CYCLES_PER_DEPENDENT / median;
    out->frequency_range =
        (looks[count - 1 - count / 10].dependent_ticks - looks[count / 10].dependent_ticks) /
        median;
}
