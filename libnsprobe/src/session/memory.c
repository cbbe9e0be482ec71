/* SPDX-License-Identifier: MIT */
/* Memory: /proc/meminfo and the control group's limit -> bytes that may still be allocated. */
#include "memory.h"

#include <stdio.h>
#include <string.h>

/* MemAvailable includes what the kernel would free under pressure. */
static uint64_t machine_bytes(void)
{
    char line[256];
    unsigned long long kib, bytes = UINT64_MAX;
    FILE *file = fopen("/proc/meminfo", "re");

    if (!file)
        return UINT64_MAX;
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            bytes = kib * 1024;
            break;
        }
    }
    fclose(file);
    return bytes;
}

/* Reads a number from a file; UINT64_MAX for "max" or no such file. */
static uint64_t read_number(const char *path)
{
    unsigned long long number = UINT64_MAX;
    FILE *file = fopen(path, "re");

    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%llu", &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/*
 * The group's page cache of files: freed under pressure, like the part that MemAvailable counts for
 * the machine.
 */
static uint64_t group_cache_bytes(void)
{
    char key[64];
    unsigned long long bytes;
    uint64_t sum = 0;
    FILE *file = fopen("/sys/fs/cgroup/memory.stat", "re");

    if (!file)
        return 0;
    while (fscanf(file, "%63s %llu", key, &bytes) == 2)
        if (strcmp(key, "active_file") == 0 || strcmp(key, "inactive_file") == 0)
            sum += bytes;
    fclose(file);
    return sum;
}

/* In a container the root of the hierarchy is the container's own group. */
static uint64_t group_bytes(void)
{
    const uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    const uint64_t used = read_number("/sys/fs/cgroup/memory.current");

    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return limit + group_cache_bytes() > used ? limit + group_cache_bytes() - used : 0;
}

uint64_t nsp_available_memory_bytes(void)
{
    const uint64_t machine = machine_bytes(), group = group_bytes();

    return machine < group ? machine : group;
}
