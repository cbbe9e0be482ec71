/* SPDX-License-Identifier: MIT */
/* /sys/bus/event_source/devices -> PMUs of the machine's cores, one per kind of core. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "event.h"

#define DEVICES "/sys/bus/event_source/devices"

static int read_number(const char *device, uint32_t *number)
{
    char path[320];
    FILE *file;
    int got;

    snprintf(path, sizeof(path), DEVICES "/%.255s/type", device);
    file = fopen(path, "re");
    if (!file)
        return 0;
    got = fscanf(file, "%u", number);
    fclose(file);
    return got == 1;
}

/*
 * A core PMU lists its cores in `cpus`; one of a memory controller or the like has `cpumask`, or
 * neither.
 */
static int has_cores(const char *device)
{
    char path[320];

    snprintf(path, sizeof(path), DEVICES "/%.255s/cpus", device);
    return access(path, R_OK) == 0;
}

uint32_t nsp_core_pmus(uint32_t types[NSP_CORE_KINDS])
{
    DIR *devices = opendir(DEVICES);
    const struct dirent *entry;
    uint32_t count = 0;

    if (!devices)
        return 0;
    while (count < NSP_CORE_KINDS && (entry = readdir(devices)))
        if (entry->d_name[0] != '.' && has_cores(entry->d_name) &&
            read_number(entry->d_name, &types[count]))
            ++count;
    closedir(devices);
    return count;
}
