// SPDX-License-Identifier: MIT
// measure: a loop, run n and 2n times -> mean cost of one round, with its interval.
#pragma once

#include <cstdint>
#include <vector>

namespace calibrate
{
// Runs its body `rounds` times; rounds is a multiple of kUnrolled.
using Loop = void (*)(uint32_t rounds);
using ReadTicks = uint64_t (*)();

inline constexpr uint32_t kUnrolled = 8;
static_assert(kUnrolled == 8, "as in NSCALIBRATE_LOOP");

// Defines a Loop with the instructions repeated eight times; the further arguments are the
// clobbered registers.  Nothing uses the results, so the CPU may overlap the instructions freely.
#define NSCALIBRATE_LOOP(name, instructions, ...)                                             \
    void name(uint32_t rounds)                                                                \
    {                                                                                         \
        for (uint32_t i = 0; i < rounds; i += kUnrolled)                                      \
            asm volatile(".rept 8\n\t" instructions "\n\t.endr" : : : __VA_ARGS__, "memory"); \
    }

struct Estimate {
    double mean = 0;
    double ci95 = 0;   // half width
    double spread = 0; // largest minus smallest kept pass, relative to the mean
    uint32_t batches = 0;
    uint32_t trimmed = 0; // batches left out as outliers
};

// Leaves out a fifth at either end, like libnsprobe.
Estimate trimmed_mean(std::vector<double> values);

/*
 * One value per batch: (time of 2n rounds - time of n rounds) / n.  Constant
 * costs of a batch, such as the clock reads, cancel in the difference, and the
 * error of a clock that moves in steps is one step per n rounds.
 */
Estimate measure_loop(Loop loop, uint32_t rounds, uint32_t batches, ReadTicks read_ticks);

// Subtracts the cost of the loop itself; the intervals add in quadrature.
Estimate without(const Estimate &whole, const Estimate &baseline);

/*
 * Combines the estimates of one figure from passes spread over the run.  A
 * fifth of the passes is left out at either end.  The interval is the wider of
 * those between passes and within passes, because a shift that lasts a whole
 * pass (clock rate, a neighbour) is invisible inside it.
 */
Estimate combine(std::vector<Estimate> passes);
} // namespace calibrate
