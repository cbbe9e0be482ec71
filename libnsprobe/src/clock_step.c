/* SPDX-License-Identifier: MIT */
/* Clock step: back-to-back readings -> the granularity of the clock. */
#include <stdlib.h>

#include <nsprobe/calibrate.h>

#include "arch.h"

#define READINGS 8192
#define DELAYS 128
#define SMALLEST_STEP 8 /* ticks; below, differences are taken as they come */

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
 * Differences between readings that lie differently far apart, in ascending
 * order; long ones (interrupts) cut to a bound.
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

/*
 * A clock that moves in steps shows differences of 0 (or 1, where a
 * hypervisor keeps readings apart), of one step, of two ..., each give or take
 * a tick when the step is not a whole number of ticks; and nothing between,
 * however far apart the readings are.
 */
double nsp_clock_step_ticks(void)
{
    static uint32_t differences[READINGS];
    uint32_t first = 0, on_step = 0, later = 0, ones = 0, divisor = 0;
    double sum = 0;

    read_differences(differences);
    while (first < READINGS && differences[first] <= 1)
        ++first;
    if (first == READINGS)
        return 1;
    const uint32_t candidate = differences[first + (READINGS - first) / 20];

    for (uint32_t i = first; i < READINGS; ++i) {
        const uint32_t times = (differences[i] + candidate / 2) / candidate;
        const uint32_t off = abs((int)differences[i] - (int)(times * candidate));

        on_step += times >= 1 && off <= times + 1;
        later += times > 1;
        if (times == 1 && off <= 2) {
            sum += differences[i];
            ++ones;
        }
        divisor = common_divisor(divisor, differences[i]);
    }
    if (candidate >= SMALLEST_STEP && later > READINGS / 10 && on_step > (READINGS - first) * 9 / 10 && ones > 0)
        return sum / ones;
    return divisor > 0 ? divisor : 1;
}
