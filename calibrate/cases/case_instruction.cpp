// SPDX-License-Identifier: MIT
// case: cost of the machine instructions in the paper's Table 1.
#include <algorithm>

#include "cases.hpp"

namespace calibrate
{
namespace
{
constexpr uint32_t kRounds = 64;
constexpr uint64_t kTrapTicks = 1000; // slower instructions trap to kernel or hypervisor

// An instruction that traps to the kernel or the hypervisor takes microseconds, and the thread may
// be preempted meanwhile.  With as few of them per batch as possible, most batches stay
// undisturbed.
uint32_t rounds_for(Loop loop)
{
    uint64_t least = ~0ull;
    for (int i = 0; i < 3; ++i) {
        const uint64_t begin = read_ticks();
        loop(kUnrolled);
        least = std::min(least, read_ticks() - begin);
    }
    return least > kUnrolled * kTrapTicks ? kUnrolled : kRounds;
}

Estimate measure(Loop loop, const Pass &pass)
{
    const uint32_t rounds = rounds_for(loop);
    const Estimate nothing = measure_loop(empty_loop, rounds, pass.batches, read_ticks);
    return without(measure_loop(loop, rounds, pass.batches, read_ticks), nothing);
}
} // namespace

std::string needs_nsmod()
{
    return "privileged: requires nsmod";
}

void run_instruction_case(const Pass &pass, Results &results)
{
    for (const InstructionVariant &variant : instruction_variants()) {
        const std::string reason = variant.begin ? variant.begin() : "";
        if (!reason.empty())
            results.lacks(variant.name, reason);
        else if (variant.loop)
            results.instruction(variant.name).add(measure(variant.loop, pass));
        if (variant.end)
            variant.end();
    }
}
} // namespace calibrate
