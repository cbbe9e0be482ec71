/* SPDX-License-Identifier: MIT */
/* /proc/cpuinfo, device tree and DMI -> properties of the machine, on arm64. */
#include <stdio.h>
#include <string.h>

#include "arch.h"
#include "session/cpuinfo.h"

/* There is no model name: tools identify the CPU by its implementer and part numbers. */
void nsp_arch_cpu_model(char *model, size_t room)
{
    char implementer[16], part[16];

    if (nsp_cpuinfo("CPU implementer", implementer, sizeof(implementer)) &&
        nsp_cpuinfo("CPU part", part, sizeof(part)))
        snprintf(model, room, "arm64 implementer %s part %s", implementer, part);
    else
        snprintf(model, room, "unknown");
}

static int first_line(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "re");
    int got = file && fgets(text, (int)room, file);

    if (file)
        fclose(file);
    if (got)
        text[strcspn(text, "\n")] = 0;
    return got && text[0];
}

/* No instruction reports it, but the firmware tables do if a hypervisor wrote them. */
void nsp_arch_hypervisor(char *name, size_t room)
{
    static const char *const vendors[] = {"QEMU",      "KVM",    "Amazon EC2", "Google",
                                          "Microsoft", "VMware", "Xen",        "Apple"};
    char text[128];

    snprintf(name, room, "none");
    if (first_line("/proc/device-tree/hypervisor/compatible", text, sizeof(text)) ||
        first_line("/sys/hypervisor/type", text, sizeof(text))) {
        snprintf(name, room, "%s", text);
        return;
    }
    if (first_line("/proc/device-tree/compatible", text, sizeof(text)) &&
        strcmp(text, "linux,dummy-virt") == 0) {
        snprintf(name, room, "QEMU"); /* its `virt` machine */
        return;
    }
    if (first_line("/sys/class/dmi/id/product_name", text, sizeof(text)) && strstr(text, "metal"))
        return;
    if (first_line("/sys/class/dmi/id/sys_vendor", text, sizeof(text)))
        for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); ++i)
            if (strstr(text, vendors[i]))
                snprintf(name, room, "%s", text);
}

/* The generic timer has a constant rate by architecture. */
int nsp_arch_clock_is_invariant(void)
{
    return 1;
}
