// SPDX-License-Identifier: MIT
// case: cost of one clock read, for each way to read the clock.
#include <ctime>

#include <nsprobe/calibrate.h>

#include "cases.hpp"

namespace calibrate
{
namespace
{
constexpr uint32_t kRounds = 1000;

void clock_gettime_loop(uint32_t rounds)
{
    timespec now;
    for (uint32_t i = 0; i < rounds; ++i)
        clock_gettime(CLOCK_MONOTONIC, &now);
}
} // namespace

void run_clock_case(const Pass &pass, Results &results)
{
    const Estimate nothing = measure_loop(empty_loop, kRounds, pass.batches, read_ticks);
    if (pass.number == 0)
        results.step_ticks = nsp_clock_step_ticks();
    for (const ClockVariant &variant : clock_variants()) {
        if (variant.lacks) {
            results.lacks(variant.name, variant.lacks);
            continue;
        }
        const Estimate cost = measure_loop(variant.loop, kRounds, pass.batches, read_ticks);
        results.clock_read(variant.name).add(without(cost, nothing));
    }
    const Estimate vdso = measure_loop(clock_gettime_loop, kRounds, pass.batches, read_ticks);
    results.clock_read("clock_gettime").add(without(vdso, nothing));
}
} // namespace calibrate
