// SPDX-License-Identifier: MIT
// measure: a loop, run n and 2n times -> mean cost of one round, with its interval.
#pragma once

#include <cstdint>
#include <vector>

namespace calibrate
{
// Runs its body `rounds` times; rounds is a multiple of kUnrolled.
using Loop = void (*)(std::uint32_t rounds);
using ReadTicks = std::uint64_t (*)();

inline constexpr std::uint32_t kUnrolled = 8;
static_assert(kUnrolled == 8, "as in NSCALIBRATE_LOOP");

// A Loop: the instructions eight times, then the loop's own branch; then the registers that they change.  Nothing uses the
// results, so the instructions run as freely as the CPU lets them.
#define NSCALIBRATE_LOOP(name, instructions, ...)                                                  \
    void name(std::uint32_t rounds)                                                                \
    {                                                                                              \
        for (std::uint32_t i = 0; i < rounds; i += kUnrolled)                                      \
            asm volatile(".rept 8\n\t" instructions "\n\t.endr" : : : __VA_ARGS__, "memory");      \
    }

struct Estimate {
    double mean = 0;
    double ci95 = 0;   // half width
    double spread = 0; // of passes: largest less smallest kept pass, relative to the mean
    std::uint32_t batches = 0;
    std::uint32_t trimmed = 0; // batches left out as outliers
};

// A fifth is left out at either end, as libnsprobe does.
Estimate trimmed_mean(std::vector<double> values);

/*
 * One value a batch: (time of 2n rounds - time of n rounds) / n.  What a batch
 * costs once, reading the clock included, falls out of the difference, and a
 * clock that moves in steps errs by a step in n rounds, not in one.
 */
Estimate measure_loop(Loop loop, std::uint32_t rounds, std::uint32_t batches, ReadTicks read_ticks);

// Takes out what the loop itself costs; the two intervals add as errors do.
Estimate without(const Estimate &whole, const Estimate &baseline);

/*
 * The estimates of one figure from passes spread over the run -> one.  A fifth
 * of the passes is left out at either end.  The interval is the wider of what
 * passes differ by and what batches within them do: a shift that holds for a
 * whole pass (clock rate, a neighbour) is invisible inside it.
 */
Estimate combine(std::vector<Estimate> passes);
} // namespace calibrate
