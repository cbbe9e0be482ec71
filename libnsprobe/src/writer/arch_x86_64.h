/* SPDX-License-Identifier: MIT */
/* What the library's C code requires of x86-64. */
#ifndef NSP_ARCH_X86_64_H
#define NSP_ARCH_X86_64_H

#include <stdint.h>

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

#define NSP_ARCH_NAME "x86_64"
#define NSP_CLOCK_NAME "tsc"
#define NSP_CLOCK_SOURCE "tsc" /* as in /sys/devices/system/clocksource */
#define NSP_USER_READ_CONFIG1 \
    {                         \
        0                     \
    } /* config1 that requests user-space reads, by preference */
#define NSP_USER_READS_SWITCH "see /sys/bus/event_source/devices/cpu/rdpmc"
#define NSP_WITHOUT_PMU "source=step counts instructions without a PMU"
#define NSP_MULTIPLY "imul %0, %0\n\t" /* a 64-bit operand times itself */

static inline uint64_t nsp_clock_read(int ordered)
{
    uint32_t low, high;

    if (ordered)
        __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    else
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* Not before all earlier loads are done. */
static inline uint64_t nsp_clock_read_late(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* The kernel stores the CPU number in the limit of this segment, which its own vDSO reads. */
static inline uint32_t nsp_current_cpu(void)
{
    uint32_t limit;

    __asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b));
    return limit & 0xfff;
}

static inline long nsp_syscall3(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long nsp_syscall4(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static inline const char *nsp_thread_pointer(void)
{
    const char *pointer;

    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* What a probe does when it calls out of line. */
static inline void nsp_call_probe(void (*code)(void), const struct nsp_detail_state *state,
                                  const struct nsp_site *site)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall *%2\n\tlea 128(%%rsp), %%rsp"
                     : "+D"(state), "+S"(site)
                     : "r"(code)
                     : "rax", "rcx", "rdx", "r8", "r9", "cc", "memory");
}

/* Sets the number of the register with this index.  Returns 0 if none exists, otherwise 1. */
static inline uint32_t nsp_register_reader(uint32_t index, uint32_t width, int is_first,
                                           uint64_t *reader)
{
    (void)width;
    (void)is_first;
    *reader = index - 1;
    return (uint32_t)(index != 0);
}

static inline uint64_t nsp_read_pmc(uint32_t index)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
    return (uint64_t)high << 32 | low;
}

#endif /* NSP_ARCH_X86_64_H */
