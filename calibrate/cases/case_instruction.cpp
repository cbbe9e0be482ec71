// SPDX-License-Identifier: MIT
// case: what the machine instructions of the paper's first table cost.
#include <algorithm>

#include "cases.hpp"

namespace calibrate
{
namespace
{
constexpr std::uint32_t kRounds = 64;
constexpr std::uint64_t kTrapTicks = 1000; // no instruction takes that long unless it leaves the program

// An instruction that leaves for the kernel or the hypervisor takes microseconds, and others may get
// the CPU meanwhile: with as few of them in a batch as can be, most batches stay undisturbed.
std::uint32_t rounds_for(Loop loop)
{
    std::uint64_t least = ~0ull;
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t begin = read_ticks();
        loop(kUnrolled);
        least = std::min(least, read_ticks() - begin);
    }
    return least > kUnrolled * kTrapTicks ? kUnrolled : kRounds;
}

Estimate measure(Loop loop, const Pass &pass)
{
    const std::uint32_t rounds = rounds_for(loop);
    const Estimate nothing = measure_loop(empty_loop, rounds, pass.batches, read_ticks);
    return without(measure_loop(loop, rounds, pass.batches, read_ticks), nothing);
}
} // namespace

std::string needs_nsmod()
{
    return "privileged: not measurable without nsmod";
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
