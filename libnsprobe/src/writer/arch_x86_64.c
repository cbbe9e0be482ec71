/* SPDX-License-Identifier: MIT */
/* cpuid and /proc/cpuinfo -> properties of the machine, on x86-64. */
#include <cpuid.h>
#include <stdio.h>

#include "arch.h"
#include "session/cpuinfo.h"

void nsp_arch_cpu_model(char *model, size_t room)
{
    if (!nsp_cpuinfo("model name", model, room))
        snprintf(model, room, "unknown");
}

void nsp_arch_hypervisor(char *name, size_t room)
{
    unsigned a, b, c, d, text[4] = {0};

    snprintf(name, room, "none");
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
        return;
    __cpuid(0x40000000, a, text[0], text[1], text[2]);
    snprintf(name, room, "%s", text[0] ? (const char *)text : "yes");
    nsp_shorten_repeated_name(name);
}

int nsp_arch_clock_is_invariant(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
