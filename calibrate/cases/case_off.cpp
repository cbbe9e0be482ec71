// SPDX-License-Identifier: MIT
// case: cost of a probe while no session is open.
#include <nsprobe/probe.h>

#include "cases.hpp"

namespace calibrate
{
#ifdef NETSLICE_DISABLE

void run_off_case(const Pass &, Results &results)
{
    results.lacks("probes without a session",
                  "built with NETSLICE_DISABLE: this program has no probes");
}

#else

namespace
{
constexpr uint32_t kRounds = 1000;

void off_loop(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i += kUnrolled) {
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
        NET_SLICE_EXIT(calibration);
    }
}
} // namespace

void run_off_case(const Pass &pass, Results &results)
{
    const Estimate nothing = measure_loop(empty_loop, kRounds, pass.batches, read_ticks);
    const Estimate cost = measure_loop(off_loop, kRounds, pass.batches, read_ticks);
    results.ring("off", {"any", "any", "any"}).ticks.add(without(cost, nothing));
}

#endif
} // namespace calibrate
