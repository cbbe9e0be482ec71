/* SPDX-License-Identifier: MIT */
/* Single-stepping in process on x86-64: trap flag -> one SIGTRAP per instruction -> count. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include <nsprobe/detail/state.h>

#include "counters.h"
#include "session/error.h"
#include "step_system_call.h"
#include "step_trap.h"
#include "writer/thread.h"

#define TRAP_FLAG 0x100
#define INT1 0xf1

static struct sigaction previous_action;

/*
 * A string instruction with a repeat prefix traps after each iteration at the same address, but
 * retires once.
 */
static int is_repeated_string_instruction(const unsigned char *code)
{
    int repeated = 0;

    for (int i = 0; i < 14; ++i, ++code) {
        switch (*code) {
        case 0xf2:
        case 0xf3: repeated = 1; continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x66:
        case 0x67: continue;
        default: break;
        }
        if (*code >= 0x40 && *code <= 0x4f) /* REX */
            continue;
        return repeated && ((*code >= 0xa4 && *code <= 0xa7) || (*code >= 0xaa && *code <= 0xaf) ||
                            (*code >= 0x6c && *code <= 0x6f));
    }
    return 0;
}

/*
 * A step has the code TRAP_TRACE.  Some hypervisors lose the cause of a debug
 * exception (DR6) if they preempt the CPU between the exception and the kernel's read
 * of it, as KVM did before Linux 6.14; the kernel then takes the step for an int1
 * instruction and reports TRAP_BRKPT.  An int1 is the single byte of the last
 * instruction, or of the next one if the hypervisor does not advance past it; int3
 * has the code SI_KERNEL, raise() SI_TKILL.
 */
static int is_int1(uint64_t address)
{
    return nsp_thread.last_address == address && *(const unsigned char *)(uintptr_t)address == INT1;
}

static int is_step(const siginfo_t *info, const ucontext_t *uc)
{
    const uint64_t address = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

    if (info->si_code == TRAP_TRACE)
        return 1;
    if (info->si_code != TRAP_BRKPT || !(uc->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG))
        return 0;
    return !is_int1(address - 1) && !is_int1(address);
}

/* A trap not caused by stepping (a breakpoint, raise()) goes to the program's own handler. */
static void forward(int signal_number, siginfo_t *info, void *context)
{
    if (previous_action.sa_flags & SA_SIGINFO) {
        previous_action.sa_sigaction(signal_number, info, context);
    } else if (previous_action.sa_handler == SIG_DFL) {
        sigaction(SIGTRAP, &previous_action, NULL);
        raise(SIGTRAP); /* ends the process when this handler returns */
    } else if (previous_action.sa_handler != SIG_IGN) {
        previous_action.sa_handler(signal_number);
    }
}

static void on_trap(int signal_number, siginfo_t *info, void *context)
{
    const int saved_errno = errno;
    ucontext_t *uc = context;
    uint64_t address = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

    if (!is_step(info, uc)) {
        forward(signal_number, info, context);
        return;
    }
    /*
     * The session ended while a slice was open, or this is a new thread or child that inherited the
     * flag.
     */
    if (nsp_thread.step_depth == 0 ||
        (__atomic_load_n(&nsp_detail_state.mode, __ATOMIC_RELAXED) != NSP_DETAIL_MODE_STEP &&
         !nsp_step_calibrating)) {
        uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    if (address == nsp_thread.last_address &&
        is_repeated_string_instruction((const unsigned char *)(uintptr_t)address))
        return; /* another iteration; the next trap at a different address ends the instruction */
    nsp_thread.last_address = address;
    ++nsp_thread.stepped;
    if (nsp_step_at_system_call(uc)) {
        /*
         * The kernel clears the flag on entry: the call itself never traps, the next instruction
         * does.
         */
        nsp_thread.last_address = address + NSP_SYSTEM_CALL_BYTES;
        ++nsp_thread.stepped;
    }
    errno = saved_errno;
}

int nsp_step_catch_traps(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, before;

    action.sa_sigaction = on_trap;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGTRAP, &action, &before))
        return nsp_fail(-errno, "cannot catch SIGTRAP: %s", strerror(errno));
    if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != on_trap)
        previous_action = before;
    return 0;
}
