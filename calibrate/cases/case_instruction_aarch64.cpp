// SPDX-License-Identifier: MIT
// case: arm64 counterparts of the paper's instructions.
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <array>

#include "cases.hpp"
#include "user_counter.hpp"

namespace calibrate
{
namespace
{
constexpr uint64_t kUserAccess64Bit =
    3; // config1 of the kernel's arm PMU: bit 0 long counter, bit 1 user access
constexpr uint32_t kCycleCounter = 31; // the kernel's number for PMCCNTR_EL0

std::optional<UserCounter> counter; // while pmccntr is measured

NSCALIBRATE_LOOP(midr, "mrs x9, midr_el1", "x9")
NSCALIBRATE_LOOP(pmccntr, "mrs x9, pmccntr_el0", "x9")
NSCALIBRATE_LOOP(isb, "isb", "x9")

std::string begin_midr()
{
    return getauxval(AT_HWCAP) & HWCAP_CPUID
               ? ""
               : "not emulated for programs by this kernel (no HWCAP_CPUID)";
}

std::string begin_pmccntr()
{
    counter.emplace(PERF_COUNT_HW_CPU_CYCLES, kUserAccess64Bit);
    if (!counter->lacks().empty())
        return counter->lacks();
    if (counter->number() != kCycleCounter)
        return "PMCCNTR_EL0 is in use; the kernel counts cycles in another register";
    return "";
}

void end_pmccntr()
{
    counter.reset();
}
} // namespace

std::span<const InstructionVariant> instruction_variants()
{
    static constexpr std::array variants = {
        InstructionVariant{"midr_el1",
                           midr,
                           begin_midr,
                           nullptr,
                           {},
                           "like cpuid; emulated by the kernel",
                           nullptr},
        InstructionVariant{"mrs, EL1", nullptr, needs_nsmod, nullptr, {}, nullptr, nullptr},
        InstructionVariant{
            "pmccntr", pmccntr, begin_pmccntr, end_pmccntr, {}, "like rdpmc", nullptr},
        InstructionVariant{"cntvct", nullptr, nullptr, nullptr, {}, "like rdtsc", nullptr},
        InstructionVariant{"msr, EL1", nullptr, needs_nsmod, nullptr, {}, nullptr, nullptr},
        InstructionVariant{"isb", isb, nullptr, nullptr, {}, "serializes, like cpuid", nullptr},
    };
    return variants;
}
} // namespace calibrate
