/* SPDX-License-Identifier: MIT */
/* A counter's name -> events: libpfm4's or the kernel's own, one per kind of core. */
#include "event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "event_libpfm.h"
#include "session/error.h"

#define CORE_TYPE_SHIFT 32 /* in a generic event's config: the PMU to count it (Linux 5.13) */

struct generic_event {
    struct nsp_counter_info info;
    uint64_t config; /* of PERF_TYPE_HARDWARE */
};

static const struct generic_event generic[] = {
    {{"instructions", "generic", "instructions retired"}, PERF_COUNT_HW_INSTRUCTIONS},
    {{"cycles", "generic", "core cycles, at the current core frequency"}, PERF_COUNT_HW_CPU_CYCLES},
    {{"ref-cycles", "generic", "cycles at a constant rate"}, PERF_COUNT_HW_REF_CPU_CYCLES},
    {{"branches", "generic", "branches retired"}, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {{"branch-misses", "generic", "mispredicted branches retired"}, PERF_COUNT_HW_BRANCH_MISSES},
    {{"cache-references", "generic", "accesses to the last-level cache, or as the PMU defines it"},
     PERF_COUNT_HW_CACHE_REFERENCES},
    {{"cache-misses", "generic", "accesses that missed the last-level cache"},
     PERF_COUNT_HW_CACHE_MISSES},
};

const struct nsp_counter_info *nsp_event_generic(unsigned at)
{
    return at < sizeof(generic) / sizeof(generic[0]) ? &generic[at].info : NULL;
}

static int find_generic(const char *name, struct nsp_event *event)
{
    for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); ++i)
        if (strcmp(generic[i].info.name, name) == 0) {
            *event = (struct nsp_event){.kinds = 1, .exclude_kernel = 1, .exclude_hv = 1};
            event->code[0] =
                (struct nsp_event_code){.type = PERF_TYPE_HARDWARE, .config = generic[i].config};
            return 0;
        }
    return -ENOENT;
}

static int unknown_name(const char *name, const char *why)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); ++i)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 generic[i].info.name);
    return nsp_fail(-EINVAL, "unknown counter \"%s\"; available: %s (%s)", name, known, why);
}

/* A generic event is counted on one kind of core only and stops on the others. */
static int spread_over_cores(const char *name, struct nsp_event *event)
{
    uint32_t types[NSP_CORE_KINDS];
    const uint32_t kinds = nsp_core_pmus(types);
    const struct nsp_event_code first = event->code[0];

    if (kinds < 2 || first.type == PERF_TYPE_SOFTWARE)
        return 0;
    if (first.type != PERF_TYPE_HARDWARE && first.type != PERF_TYPE_HW_CACHE)
        return nsp_fail(
            -ENOTSUP,
            "counter \"%s\": belongs to one PMU, but this machine has %u kinds of "
            "core: threads that migrate "
            "would be counted in part (use a general name, such as instructions or cycles)",
            name, kinds);
    event->kinds = kinds;
    for (uint32_t i = 0; i < kinds; ++i) {
        event->code[i] = first;
        event->code[i].config |= (uint64_t)types[i] << CORE_TYPE_SHIFT;
    }
    return 0;
}

int nsp_event_find(const char *name, struct nsp_event *event)
{
    char why[160];
    int err = find_generic(name, event);

    if (err)
        err = nsp_libpfm_find(name, event, why, sizeof(why));
    if (err == -ENODEV)
        return nsp_fail(-ENOTSUP, "counter \"%s\": %s", name, why);
    return err ? unknown_name(name, why) : spread_over_cores(name, event);
}
