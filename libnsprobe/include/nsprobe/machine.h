/* SPDX-License-Identifier: MIT */
/* Properties of the machine that affect the meaning of the probes' figures. */
#ifndef NSPROBE_MACHINE_H
#define NSPROBE_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nsp_machine {
    char arch[16];               /* x86_64, aarch64 */
    char clock[16];              /* the counter that probes read: tsc, cntvct */
    char clock_source[32];       /* the kernel's name of that counter as a clock source: tsc,
                                    arch_sys_counter */
    char cpu_model[128];         /* "unknown" if the system does not report it */
    char hypervisor[64];         /* its name, "yes" if it has none, "none" on bare metal */
    uint32_t clock_is_invariant; /* nonzero: its rate does not depend on the core's frequency */
};

/* Reads registers, /proc and /sys.  Any thread; not a signal handler. */
void nsp_machine_read(struct nsp_machine *machine);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_MACHINE_H */
