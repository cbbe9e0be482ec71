// SPDX-License-Identifier: MIT
// case: the ways to read the time stamp counter on x86-64.
#include <cpuid.h>

#include <array>

#include "cases.hpp"

namespace calibrate
{
namespace
{
NSCALIBRATE_LOOP(rdtsc, "rdtsc", "rax", "rcx", "rdx")
NSCALIBRATE_LOOP(lfence_rdtsc, "lfence\n\trdtsc", "rax", "rcx", "rdx")
NSCALIBRATE_LOOP(rdtscp, "rdtscp", "rax", "rcx", "rdx")
NSCALIBRATE_LOOP(lfence_rdtsc_lfence, "lfence\n\trdtsc\n\tlfence", "rax", "rcx", "rdx")
NSCALIBRATE_LOOP(mfence_rdtsc, "mfence\n\trdtsc", "rax", "rcx", "rdx")

const char *why_no_rdtscp()
{
    unsigned a, b, c, d;
    const bool has_rdtscp = __get_cpuid(0x80000001, &a, &b, &c, &d) && (d >> 27 & 1);
    return has_rdtscp ? nullptr : "instruction unsupported by the CPU or hypervisor";
}
} // namespace

NSCALIBRATE_LOOP(empty_loop, "", "rax", "rcx", "rdx")

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

uint64_t read_ticks()
{
    uint32_t low, high;
    asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return uint64_t(high) << 32 | low;
}
} // namespace calibrate
