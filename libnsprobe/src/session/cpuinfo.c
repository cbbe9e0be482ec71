/* SPDX-License-Identifier: MIT */
/* /proc/cpuinfo: name of a field -> its first value; the name that a hypervisor has in cpuid -> its
 * word. */
#define _GNU_SOURCE
#include "cpuinfo.h"

#include <stdio.h>
#include <string.h>

int nsp_cpuinfo(const char *name, char *value, size_t room)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    const size_t length = strlen(name);
    char line[512];
    int found = 0;

    if (!file)
        return 0;
    while (!found && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, name, length) != 0 || !colon ||
            line + length + strspn(line + length, " \t") != colon)
            continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(value, room, "%s", colon[1] ? colon + 2 : "");
        found = 1;
    }
    fclose(file);
    return found;
}

void nsp_shorten_repeated_name(char *text)
{
    const size_t shortest = 3; /* KVM's and QEMU's; "aa" is a name of its own */
    size_t length = strlen(text);

    for (size_t copy = shortest; copy <= length / 2; ++copy)
        if (length % copy == 0 && memcmp(text, text + copy, length - copy) == 0) {
            length = copy;
            break;
        }
    while (length > 0 && text[length - 1] == ' ')
        --length;
    text[length] = 0;
}
