/* SPDX-License-Identifier: MIT */
/* System calls while stepping: instruction and registers -> emulated, or left to the kernel. */
#define _GNU_SOURCE
#include "step_system_call.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#define TRAP_BIT (1ull << (SIGTRAP - 1))
#define KERNEL_MASK_BYTES sizeof(uint64_t)

static uint64_t argument(const ucontext_t *uc, int reg)
{
    return (uint64_t)uc->uc_mcontext.gregs[reg];
}

static void *pointer(const ucontext_t *uc, int reg)
{
    return (void *)(uintptr_t)argument(uc, reg);
}

/* Sets the registers as the kernel does after the call. */
static void skip(ucontext_t *uc)
{
    uc->uc_mcontext.gregs[REG_RIP] += NSP_SYSTEM_CALL_BYTES;
    uc->uc_mcontext.gregs[REG_RCX] = uc->uc_mcontext.gregs[REG_RIP];
    uc->uc_mcontext.gregs[REG_R11] = uc->uc_mcontext.gregs[REG_EFL];
    uc->uc_mcontext.gregs[REG_RAX] = 0;
}

/*
 * rt_sigprocmask(how, set, old, bytes): the return from this handler sets the mask of the
 * interrupted code.
 */
static void block_all_but_trap(ucontext_t *uc)
{
    const int how = (int)argument(uc, REG_RDI);
    uint64_t set, mask;

    if (!pointer(uc, REG_RSI) || argument(uc, REG_R10) != KERNEL_MASK_BYTES ||
        (how != SIG_BLOCK && how != SIG_SETMASK))
        return;
    memcpy(&set, pointer(uc, REG_RSI), sizeof(set));
    if (!(set & TRAP_BIT))
        return;
    memcpy(&mask, &uc->uc_sigmask, sizeof(mask));
    if (pointer(uc, REG_RDX))
        memcpy(pointer(uc, REG_RDX), &mask, sizeof(mask));
    mask = (how == SIG_BLOCK ? mask | set : set) & ~TRAP_BIT;
    memcpy(&uc->uc_sigmask, &mask, sizeof(mask));
    skip(uc);
}

/* rt_sigaction(number, action, old, bytes): the library owns SIGTRAP until the session ends. */
static void keep_trap_action(ucontext_t *uc)
{
    const size_t kernel_action_bytes = 32; /* handler, flags, restorer, mask */

    if (argument(uc, REG_RDI) != SIGTRAP || !pointer(uc, REG_RSI))
        return;
    if (pointer(uc, REG_RDX))
        memset(pointer(uc, REG_RDX), 0, kernel_action_bytes);
    skip(uc);
}

int nsp_step_at_system_call(ucontext_t *uc)
{
    const unsigned char *code = pointer(uc, REG_RIP);

    /* Reads the second byte only if the first indicates that there is one. */
    if (*code != 0x0f && *code != 0xcd)
        return 0;
    if (code[0] == 0xcd)
        return code[1] == 0x80; /* int $0x80: 32-bit numbers, not decoded */
    if (code[1] != 0x05)
        return 0;
    if (argument(uc, REG_RAX) == SYS_rt_sigprocmask)
        block_all_but_trap(uc);
    else if (argument(uc, REG_RAX) == SYS_rt_sigaction)
        keep_trap_action(uc);
    return 1;
}
