// SPDX-License-Identifier: MIT
// Bare reads of the clock and a counter register; numbered from 0, as in struct
// perf_event_mmap_page.
#pragma once

#include <cstdint>

namespace bench
{
#if defined(__x86_64__)
constexpr uint64_t kUserReadConfig1 = 0;
constexpr int kRegisterReadInstructions = 3;

inline uint64_t bare_clock()
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return uint64_t{high} << 32 | low;
}

inline uint64_t fenced_ticks()
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return uint64_t{high} << 32 | low;
}

inline uint64_t read_register(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return uint64_t{high} << 32 | low;
}
#elif defined(__aarch64__)
constexpr uint64_t kUserReadConfig1 = 3; // 64-bit, read by user programs
constexpr int kRegisterReadInstructions = 3;

inline uint64_t bare_clock()
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

inline uint64_t fenced_ticks()
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
    return ticks;
}

// The instruction encodes the register: one case for each of up to seven counters.
inline uint64_t read_register(uint32_t index)
{
    uint64_t value = 0;
    switch (index) {
#define NETSLICE_CASE(n)                                              \
    case n:                                                           \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
        break
        NETSLICE_CASE(0);
        NETSLICE_CASE(1);
        NETSLICE_CASE(2);
        NETSLICE_CASE(3);
        NETSLICE_CASE(4);
        NETSLICE_CASE(5);
#undef NETSLICE_CASE
    default: __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
    }
    return value;
}
#endif
} // namespace bench
