/* SPDX-License-Identifier: MIT */
/* What the C part of the cold path needs from the architecture. */
#ifndef NSP_ARCH_H
#define NSP_ARCH_H

#include <stdint.h>

#include <nsprobe/detail/state.h>

/* The restartable sequence for a prepared record: see arch_x86_64.S. */
#define NSP_PUSH_DONE 0
#define NSP_PUSH_FULL 1
#define NSP_PUSH_NO_RING 2
#define NSP_PUSH_ABORTED 3
int nsp_detail_push_rseq(struct nsp_detail_state *state, const uint64_t *record, uint32_t units, uint32_t *cpu);

#if defined(__x86_64__)

static inline uint64_t nsp_clock_read(int ordered)
{
    uint32_t low, high;

    if (ordered)
        __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    else
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* Not before the loads that come earlier in the program are done. */
static inline uint64_t nsp_clock_read_late(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* The kernel keeps the CPU's number in the limit of this segment: what its own vDSO reads. */
static inline uint32_t nsp_current_cpu(void)
{
    uint32_t limit;

    __asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(0x7b));
    return limit & 0xfff;
}

static inline long nsp_syscall3(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
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

static inline uint64_t nsp_rdpmc(uint32_t index)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
    return (uint64_t)high << 32 | low;
}

#else
#error "architecture without a port"
#endif
#endif /* NSP_ARCH_H */
