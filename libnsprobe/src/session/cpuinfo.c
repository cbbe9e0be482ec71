/* SPDX-License-Identifier: MIT */
/* /proc/cpuinfo: name of a field -> its first value. */
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
