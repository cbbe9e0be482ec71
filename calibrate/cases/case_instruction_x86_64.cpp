// SPDX-License-Identifier: MIT
// case: the paper's instructions on x86-64.
#include <array>

#include "cases.hpp"
#include "user_counter.hpp"

namespace calibrate
{
namespace
{
std::optional<UserCounter> counter; // while rdpmc is measured

static_assert(kUnrolled == 8);

// Leaf 0, the vendor's name.  cpuid serializes, so it cannot overlap with the next one.
NSCALIBRATE_LOOP(cpuid, "xor %%eax, %%eax\n\tcpuid", "rax", "rbx", "rcx", "rdx")

void rdpmc(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i += kUnrolled)
        asm volatile(".rept 8\n\trdpmc\n\t.endr" ::"c"(counter->number()) : "rax", "rdx", "memory");
}

std::string begin_rdpmc()
{
    counter.emplace(PERF_COUNT_HW_INSTRUCTIONS, 0);
    return counter->lacks();
}

void end_rdpmc()
{
    counter.reset();
}
} // namespace

std::span<const InstructionVariant> instruction_variants()
{
    static constexpr std::array variants = {
        InstructionVariant{"cpuid", cpuid, nullptr, nullptr, 173, nullptr,
                           "exits to the hypervisor"},
        InstructionVariant{"rdmsr", nullptr, needs_nsmod, nullptr, 180, nullptr, nullptr},
        InstructionVariant{"rdpmc", rdpmc, begin_rdpmc, end_rdpmc, 82, nullptr, nullptr},
        InstructionVariant{"rdtsc", nullptr, nullptr, nullptr, 69, nullptr, nullptr},
        InstructionVariant{"wrmsr", nullptr, needs_nsmod, nullptr, 220, nullptr, nullptr},
    };
    return variants;
}
} // namespace calibrate
