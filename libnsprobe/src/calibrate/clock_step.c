/* SPDX-License-Identifier: MIT */
/* Clock step: back-to-back readings -> granularity of the clock. */
#include <stdlib.h>

#include <nsprobe/calibrate.h>

#include "clock_step.h"
#include "writer/arch.h"

#define READINGS 8192
#define DELAYS 128
#define SMALLEST_STEP 8 /* ticks; smaller differences are used unchanged */

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Between 0 and DELAYS rounds of about a cycle. */
static void delay(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; ++i)
        __asm__ volatile("" ::: "memory");
}

/*
 * Differences between readings at varying distances, in ascending order; long ones
 * (interrupts) are capped.
 */
static void read_differences(uint32_t *differences)
{
    uint64_t before = nsp_clock_read(0);

    for (unsigned i = 0; i < READINGS; ++i) {
        delay(i % DELAYS);
        const uint64_t now = nsp_clock_read(0), difference = now - before;

        differences[i] = difference < 100000 ? (uint32_t)difference : 100000;
        before = now;
    }
    qsort(differences, READINGS, sizeof(*differences), ascending);
}

/* The mean step, if nearly all differences are multiples of about `candidate` ticks; else 0. */
static double step_near(uint32_t candidate, const uint32_t *differences, uint32_t count)
{
    uint32_t on_step = 0, later = 0, ones = 0;
    double sum = 0;

    if (candidate < SMALLEST_STEP)
        return 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t times = (differences[i] + candidate / 2) / candidate;
        const uint32_t off = abs((int)differences[i] - (int)(times * candidate));

        on_step += times >= 1 && off <= times + 1;
        later += times > 1;
        if (times == 1 && off <= 2) {
            sum += differences[i];
            ++ones;
        }
    }
    return later > count / 10 && on_step > count * 9 / 10 && ones > 0 ? sum / ones : 0;
}

/*
 * A clock that moves in steps shows differences of 0 (or 1, if a hypervisor keeps
 * readings distinct), one step, two steps ..., each plus or minus a tick if the step is
 * not a whole number of ticks; and nothing in between, at whatever distance the readings
 * are.  While the core is slow, few readings are only one step apart: hence more than
 * one candidate.
 */
double nsp_clock_step_of(const uint32_t *differences, uint32_t count)
{
    static const uint32_t shares[] = {20, 100, 1000};
    uint32_t first = 0, divisor = 0;

    while (first < count && differences[first] <= 1)
        ++first;
    for (uint32_t i = 0; first < count && i < sizeof(shares) / sizeof(shares[0]); ++i) {
        const uint32_t left = count - first, candidate = differences[first + left / shares[i]];
        const double step = step_near(candidate, differences + first, left);

        if (step > 0)
            return step;
    }
    for (uint32_t i = first; i < count; ++i)
        divisor = common_divisor(divisor, differences[i]);
    return divisor > 0 ? divisor : 1;
}

double nsp_clock_step_ticks(void)
{
    static uint32_t differences[READINGS];

    read_differences(differences);
    return nsp_clock_step_of(differences, READINGS);
}
