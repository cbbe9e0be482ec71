/* SPDX-License-Identifier: MIT */
/* Refusal of a counter by the kernel -> error text with the remedy. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_counter.h"
#include "session/error.h"
#include "writer/arch.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* -1 if unknown: the message must not name a setting that does not exist. */
static int paranoid_level(void)
{
    FILE *file = fopen(PARANOID, "re");
    int level = -1;

    if (!file)
        return level;
    if (fscanf(file, "%d", &level) != 1)
        level = -1;
    fclose(file);
    return level;
}

static int explain_no_permission(const char *name, const struct nsp_event *event)
{
    const int level = paranoid_level(),
              most = event->exclude_kernel ? 2 : 1; /* perf_event_open(2) */

    if (level > most && geteuid() != 0)
        return nsp_fail(-ENOTSUP,
                        "counter \"%s\": perf_event_open: permission denied (lower " PARANOID
                        " from %d to %d or less; " NSP_WITHOUT_PMU ")",
                        name, level, most);
    return nsp_fail(-ENOTSUP,
                    "counter \"%s\": perf_event_open: permission denied although " PARANOID
                    " allows it: a container or sandbox "
                    "filters system calls (allow the call there; " NSP_WITHOUT_PMU ")",
                    name);
}

int nsp_perf_explain_refusal(const char *name, const struct nsp_event *event, int err)
{
    switch (err) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return nsp_fail(-ENOTSUP,
                        "counter \"%s\": this machine, like most virtual machines, has no PMU that "
                        "counts it (omit the counters; " NSP_WITHOUT_PMU ")",
                        name);
    case EACCES:
    case EPERM: return explain_no_permission(name, event);
    case ENOSYS:
        return nsp_fail(
            -ENOTSUP,
            "counter \"%s\": this kernel, or its sandbox, has no perf_event_open (" NSP_WITHOUT_PMU
            ")",
            name);
    case EMFILE:
    case ENFILE:
        return nsp_fail(
            -ENOTSUP,
            "counter \"%s\": no file descriptor is left (raise the limit with ulimit -n: "
            "each thread requires one for "
            "each counter)",
            name);
    default: return nsp_fail(-ENOTSUP, "counter \"%s\": perf_event_open: %s", name, strerror(err));
    }
}

int nsp_perf_explain_no_user_reads(const char *name)
{
    return nsp_fail(
        -ENOTSUP,
        "counter \"%s\": the kernel does not allow user-space reads (" NSP_USER_READS_SWITCH
        ", or use source=perf-read; software events have no register)",
        name);
}

int nsp_perf_explain_no_register(const char *name, uint32_t count)
{
    return nsp_fail(-ENOTSUP,
                    "counter \"%s\": no hardware counter is free in addition to the other %u "
                    "requested and those held by others, "
                    "such as perf and the NMI watchdog (request fewer, or write 0 to "
                    "/proc/sys/kernel/nmi_watchdog)",
                    name, count - 1);
}
