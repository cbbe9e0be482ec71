/* SPDX-License-Identifier: MIT */
/* Properties of the machine that affect the meaning of the probes' figures. */
#include <nsprobe/machine.h>

#include <stdio.h>

#include "writer/arch.h"

void nsp_machine_read(struct nsp_machine *machine)
{
    snprintf(machine->arch, sizeof(machine->arch), "%s", NSP_ARCH_NAME);
    snprintf(machine->clock, sizeof(machine->clock), "%s", NSP_CLOCK_NAME);
    snprintf(machine->clock_source, sizeof(machine->clock_source), "%s", NSP_CLOCK_SOURCE);
    nsp_arch_cpu_model(machine->cpu_model, sizeof(machine->cpu_model));
    nsp_arch_hypervisor(machine->hypervisor, sizeof(machine->hypervisor));
    machine->clock_is_invariant = nsp_arch_clock_is_invariant() != 0;
}
