/* SPDX-License-Identifier: MIT */
/* What the library's C code requires of arm64. */
#ifndef NSP_ARCH_AARCH64_H
#define NSP_ARCH_AARCH64_H

#include <stdint.h>
#include <sys/rseq.h>
#include <sys/syscall.h>

#include <nsprobe/detail/site.h>
#include <nsprobe/detail/state.h>

#define NSP_ARCH_NAME "aarch64"
#define NSP_CLOCK_NAME "cntvct"
#define NSP_CLOCK_SOURCE "arch_sys_counter" /* as in /sys/devices/system/clocksource */
#define NSP_USER_READ_CONFIG1 \
    {                         \
        3, 2                  \
    } /* config1 that requests user-space reads: 64-bit, 32-bit */
#define NSP_USER_READS_SWITCH "set /proc/sys/kernel/perf_user_access to 1 as root"
#define NSP_WITHOUT_PMU "no other source is available: source step requires x86-64"
#define NSP_MULTIPLY "mul %0, %0, %0\n\t" /* a 64-bit operand times itself */

static inline uint64_t nsp_clock_read(int ordered)
{
    uint64_t ticks;

    if (ordered)
        __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
    else
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

/* An ISB does not wait for loads; the barrier before it does. */
static inline uint64_t nsp_clock_read_late(void)
{
    uint64_t ticks;

    __asm__ volatile("dmb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

static inline long nsp_syscall4(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

static inline long nsp_syscall3(long number, long a, long b, long c)
{
    return nsp_syscall4(number, a, b, c, 0);
}

/* No register has it: the kernel provides it in the rseq area, at no cost, or by a system call. */
static inline uint32_t nsp_current_cpu(void)
{
    uint32_t cpu = 0;

    if (__rseq_size > 0) {
        const char *thread = __builtin_thread_pointer();
        const int32_t number = *(const volatile int32_t *)(thread + __rseq_offset +
                                                           4); /* cpu_id, below 0: unregistered */

        if (number >= 0)
            return (uint32_t)number;
    }
    nsp_syscall3(SYS_getcpu, (long)&cpu, 0, 0);
    return cpu;
}

static inline const char *nsp_thread_pointer(void)
{
    return __builtin_thread_pointer();
}

/* What a probe does when it calls out of line. */
static inline void nsp_call_probe(void (*code)(void), const struct nsp_detail_state *state,
                                  const struct nsp_site *site)
{
    register const struct nsp_detail_state *x0 __asm__("x0") = state;
    register const struct nsp_site *x1 __asm__("x1") = site;

    __asm__ volatile("str x30, [sp, #-16]!\n\tblr %2\n\tldr x30, [sp], #16"
                     : "+r"(x0), "+r"(x1)
                     : "r"(code)
                     : "x3", "x4", "x5", "x6", "x7", "x16", "x17", "cc", "memory");
}

uint64_t nsp_detail_read_pmc(uint32_t index); /* counted_aarch64.S */

/* The same: 16 bytes for each register of 64 bits, by index, then for each of 32. */
#define NSP_READERS 33
extern const char nsp_detail_first_readers[2][NSP_READERS][16];
extern const char nsp_detail_last_readers[2][NSP_READERS][16];

/*
 * Sets the code that reads the register with this index, as the first of a pair or as the last or
 * only one.  Returns 0 if no such register exists, otherwise 1, in the same number of instructions.
 */
static inline uint32_t nsp_register_reader(uint32_t index, uint32_t width, int is_first,
                                           uint64_t *reader)
{
    const uint32_t is_valid = (uint32_t)(index - 1 < NSP_READERS - 1) &
                              ((uint32_t)(width == 64) | (uint32_t)(width == 32));
    const char *const readers =
        is_first ? &nsp_detail_first_readers[0][0][0] : &nsp_detail_last_readers[0][0][0];

    *reader = (uint64_t)(readers + (uint64_t)(width == 32) * sizeof(nsp_detail_last_readers[0]) +
                         (index & -is_valid) * sizeof(nsp_detail_last_readers[0][0]));
    return is_valid;
}

static inline uint64_t nsp_read_pmc(uint32_t index)
{
    return nsp_detail_read_pmc(index);
}

#endif /* NSP_ARCH_AARCH64_H */
