/* SPDX-License-Identifier: MIT */
/* Request for kernel records -> the module's recorder, or an error. */
#define _GNU_SOURCE
#include "kernel_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nslice/control.h>

#include "counters/event.h"
#include "session/error.h"
#include "session/module.h"
#include "sites/selection.h"

static int take_counter(const char *name, struct nslice_kernel_counter *counter)
{
    struct nsp_event event;
    const int err = nsp_event_find(name, &event);

    if (err)
        return err;
    if (event.kinds != 1)
        return nsp_fail(-ENOTSUP,
                        "kernel counter \"%s\": unavailable: this machine has several kinds of "
                        "core, each with its own PMU; kernel "
                        "records have counters only where all cores are alike",
                        name);
    if (strlen(name) >= sizeof(counter->name))
        return nsp_fail(-EINVAL, "kernel counter \"%s\": longer than %zu characters", name,
                        sizeof(counter->name) - 1);
    counter->type = event.code[0].type;
    counter->config = event.code[0].config;
    counter->config1 = event.code[0].config1;
    strcpy(counter->name, name);
    return 0;
}

int nsp_kernel_counters(const char *names, struct nslice_kernel_counter *counters)
{
    char copy[512], *at = copy, *name;
    int count = 0, err;

    if (!names || !*names)
        return 0;
    if (strlen(names) >= sizeof(copy))
        return nsp_fail(-EINVAL, "kernel counters: list longer than %zu characters",
                        sizeof(copy) - 1);
    strcpy(copy, names);
    while ((name = strsep(&at, ",")) != NULL) {
        if (count == NSLICE_MAX_COUNTERS)
            return nsp_fail(-EINVAL, "kernel counters: at most %d", NSLICE_MAX_COUNTERS);
        err = take_counter(name, &counters[count++]);
        if (err)
            return err;
    }
    return count;
}

int nsp_kernel_select(int fd, const char *rules)
{
    struct nslice_slices_request request = {.size = sizeof(request),
                                            .slices = (uintptr_t)rules,
                                            .slices_bytes = (uint32_t)strlen(rules)};

    return ioctl(fd, NSLICE_IOC_SLICES, &request) ? -errno : 0;
}

/* A module without rules does not know the request to change them, whatever the file is. */
static int is_too_old_for_rules(const struct nsp_kernel_config *config, int fd)
{
    return *config->slices && nsp_kernel_select(fd, "") == -ENOTTY;
}

static int refuse(const struct nsp_kernel_config *config, int err)
{
    const int has_counters = config->counters && *config->counters;

    switch (err) {
    case EPERM:
        return nsp_fail(-err, "kernel: permission denied: requires root or CAP_PERFMON, since "
                              "kernel records show what every program does");
    case EINVAL:
        return nsp_fail(-err,
                        "kernel: \"%s\": unknown group (`nsdump kernel --list` shows all), or the "
                        "ring size, port or protocol is "
                        "out of range",
                        config->groups);
    case ENOENT:
        if (has_counters)
            return nsp_fail(-err,
                            "kernel: at least one group has no tracepoint in this kernel (`nsdump "
                            "kernel --list`), or this machine has "
                            "no PMU that counts %s (omit the counters to record the clock only)",
                            config->counters);
        return nsp_fail(-err,
                        "kernel: \"%s\": at least one group has no tracepoint in this kernel "
                        "(`nsdump kernel --list`)",
                        config->groups);
    case EOPNOTSUPP:
        return nsp_fail(
            -err,
            "kernel counters \"%s\": unavailable: this machine, like most virtual "
            "machines, has no PMU that counts them (omit them to record the clock only)",
            config->counters);
    case EBUSY:
        return nsp_fail(-err, "kernel: another recorder already records the kernel%s",
                        has_counters ? ", or holds the PMU's registers (fewer counters may fit)"
                                     : "");
    case ESRCH: return nsp_fail(-err, "kernel: process %u does not exist", config->pid);
    case ENOMEM:
        return nsp_fail(
            -err, "kernel: out of memory for a ring of this size on each CPU (use smaller rings)");
    default:
        return nsp_fail(-err, "kernel: the kernel module nsmod cannot record: %s", strerror(err));
    }
}

int nsp_kernel_request(const struct nsp_kernel_config *config, uint32_t clock, uint32_t full)
{
    struct nslice_kernel_counter counters[NSLICE_MAX_COUNTERS] = {0};
    const int count = nsp_kernel_counters(config->counters, counters);
    const struct nslice_kernel_request request = {
        .size = sizeof(request),
        .flags = clock == NSP_CLOCK_ORDERED ? NSLICE_KERNEL_ORDERED : 0,
        .full = full,
        .counters_count = count > 0 ? (uint32_t)count : 0,
        .ring_bytes = config->ring_bytes,
        .counters = count > 0 ? (uintptr_t)counters : 0,
        .groups = (uintptr_t)config->groups,
        .groups_bytes = (uint32_t)strlen(config->groups),
        .port = config->port,
        .pid = config->pid,
        .protocol = config->protocol,
        /* 0 without rules, so that a module too old for them does not refuse it */
        .slices = *config->slices ? (uintptr_t)config->slices : 0,
        .slices_bytes = (uint32_t)strlen(config->slices)};
    int fd, err = count < 0 ? count : nsp_selection_check(config->slices);

    if (err)
        return err;
    fd = nsp_module_open();
    if (fd < 0 || ioctl(fd, NSLICE_IOC_KERNEL, &request) == 0)
        return fd;
    err = errno;
    err = err == EINVAL && is_too_old_for_rules(config, fd)
              ? nsp_fail(-ENOTTY, "kernel: the loaded kernel module nsmod is too old for --slices "
                                  "(load a module of this release, or omit --slices)")
              : refuse(config, err);
    close(fd);
    return err;
}
