// SPDX-License-Identifier: MIT
// case: the ways to read the time stamp counter on x86-64.
#include <cpuid.h>

#include <array>

#include "cases.hpp"

namespace calibrate
{
namespace
{
/* Eight readings, then the loop's own branch; nothing uses the result, so the readings run as
 * freely as the CPU lets them. */
#define CLOCK_LOOP(name, instructions)                             \
    void name(std::uint32_t rounds)                                \
    {                                                              \
        for (std::uint32_t i = 0; i < rounds; i += kUnrolled)      \
            asm volatile(".rept 8\n\t" instructions "\n\t.endr" :: \
                             : "rax", "rcx", "rdx", "memory");     \
    }

static_assert(kUnrolled == 8);
CLOCK_LOOP(rdtsc, "rdtsc")
CLOCK_LOOP(lfence_rdtsc, "lfence\n\trdtsc")
CLOCK_LOOP(rdtscp, "rdtscp")
CLOCK_LOOP(lfence_rdtsc_lfence, "lfence\n\trdtsc\n\tlfence")
CLOCK_LOOP(mfence_rdtsc, "mfence\n\trdtsc")

const char *why_no_rdtscp()
{
    unsigned a, b, c, d;
    const bool has_rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1);
    return has_rdtscp ? nullptr : "the CPU, or its hypervisor, does not offer the instruction";
}
} // namespace

void empty_loop(std::uint32_t rounds)
{
    for (std::uint32_t i = 0; i < rounds; i += kUnrolled)
        asm volatile("" ::: "rax", "rcx", "rdx", "memory");
}

std::span<const ClockVariant> clock_variants()
{
    static const std::array variants = {
        ClockVariant{"rdtsc", rdtsc, nullptr},
        ClockVariant{"lfence;rdtsc", lfence_rdtsc, nullptr},
        ClockVariant{"rdtscp", rdtscp, why_no_rdtscp()},
        ClockVariant{"lfence;rdtsc;lfence", lfence_rdtsc_lfence, nullptr},
        ClockVariant{"mfence;rdtsc", mfence_rdtsc, nullptr},
    };
    return variants;
}

std::uint64_t read_ticks()
{
    std::uint32_t low, high;
    asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return static_cast<std::uint64_t>(high) << 32 | low;
}
} // namespace calibrate
