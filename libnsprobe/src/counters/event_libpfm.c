/* SPDX-License-Identifier: MIT */
/* libpfm4, loaded when the first name requires it. */
#include "event_libpfm.h"

#include <errno.h>
#include <stdio.h>

#ifdef NSPROBE_HAS_LIBPFM

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h> /* redefines the kernel's perf structures */

#include "load_library.h"

#define LIBRARY "libpfm.so.4"

static struct {
    pfm_err_t (*initialize)(void);
    const char *(*strerror)(int code);
    pfm_err_t (*encode)(const char *name, int privilege_levels, pfm_os_t os, void *out);
    pfm_err_t (*pmu_info)(pfm_pmu_t pmu, pfm_pmu_info_t *info);
    pfm_err_t (*event_info)(int event, pfm_os_t os, pfm_event_info_t *info);
    int (*next_event)(int event);
    pfm_err_t (*attribute_info)(int event, int attribute, pfm_os_t os, pfm_event_attr_info_t *info);
    int is_ready;
} libpfm;

static void load(void)
{
    static const char *const names[] = {
        "pfm_initialize",     "pfm_strerror",       "pfm_get_os_event_encoding", "pfm_get_pmu_info",
        "pfm_get_event_info", "pfm_get_event_next", "pfm_get_event_attr_info"};
    void *const places[] = {&libpfm.initialize,    &libpfm.strerror,   &libpfm.encode,
                            &libpfm.pmu_info,      &libpfm.event_info, &libpfm.next_event,
                            &libpfm.attribute_info};
    void *library = nsp_load_library(LIBRARY);

    if (!library)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        void *symbol = dlsym(library, names[i]);

        if (!symbol)
            return;
        memcpy(places[i], &symbol, sizeof(symbol)); /* ISO C: no cast to a function pointer */
    }
    libpfm.is_ready = libpfm.initialize() == PFM_SUCCESS;
}

static int is_ready(char *why, size_t room)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (!libpfm.is_ready && nsp_can_load_libraries())
        snprintf(why, room, "more with libpfm4: install it, " LIBRARY " was not found");
    else if (!libpfm.is_ready)
        snprintf(why, room, "more with libpfm4, which a statically linked program cannot load");
    return libpfm.is_ready;
}

static pfm_err_t encode(const char *name, int privilege_levels, struct perf_event_attr *attr)
{
    pfm_perf_encode_arg_t out = {.attr = attr, .size = sizeof(out)};

    memset(attr, 0, sizeof(*attr));
    attr->size = sizeof(*attr);
    return libpfm.encode(name, privilege_levels, PFM_OS_PERF_EVENT, &out);
}

int nsp_libpfm_find(const char *name, struct nsp_event *event, char *why, size_t room)
{
    struct perf_event_attr attr;
    pfm_err_t err;

    if (!is_ready(why, room))
        return -ENOTSUP;
    err = encode(name, PFM_PLM3, &attr);
    /* Software events occur in the kernel. */
    if (err == PFM_SUCCESS && attr.type == PERF_TYPE_SOFTWARE)
        err = encode(name, PFM_PLM3 | PFM_PLM0, &attr);
    if (err == PFM_ERR_NOTSUPP) {
        snprintf(why, room,
                 "its PMU cannot count a single thread (perf stat -a reads such events)");
        return -ENODEV;
    }
    if (err != PFM_SUCCESS) {
        snprintf(why, room, "libpfm4: %s; `nsdump counters` lists its names and their masks",
                 libpfm.strerror(err));
        return -EINVAL;
    }
    *event = (struct nsp_event){.kinds = 1,
                                .exclude_user = attr.exclude_user,
                                .exclude_kernel = attr.exclude_kernel,
                                .exclude_hv = attr.exclude_hv};
    event->code[0] = (struct nsp_event_code){attr.type, attr.config, attr.config1, attr.config2};
    return 0;
}

/* Visits NAME:MASK for each mask; returns 0 if the event has none. */
static unsigned visit_masks(const pfm_pmu_info_t *pmu, const pfm_event_info_t *event,
                            nsp_counter_visitor visit, void *context)
{
    unsigned masks = 0;

    for (int i = 0; i < event->nattrs; ++i) {
        pfm_event_attr_info_t mask = {.size = sizeof(mask)};
        char name[NSP_COUNTER_NAME_BYTES];

        if (libpfm.attribute_info(event->idx, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        snprintf(name, sizeof(name), "%s::%s:%s", pmu->name, event->name, mask.name);
        visit(&(struct nsp_counter_info){.name = name, .group = pmu->desc, .meaning = mask.desc},
              context);
        ++masks;
    }
    return masks;
}

static void visit_pmu(const pfm_pmu_info_t *pmu, nsp_counter_visitor visit, void *context)
{
    for (int at = pmu->first_event; at != -1; at = libpfm.next_event(at)) {
        pfm_event_info_t event = {.size = sizeof(event)};
        char name[NSP_COUNTER_NAME_BYTES];

        if (libpfm.event_info(at, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
            continue;
        if (visit_masks(pmu, &event, visit, context) > 0)
            continue;
        snprintf(name, sizeof(name), "%s::%s", pmu->name, event.name);
        visit(&(struct nsp_counter_info){.name = name, .group = pmu->desc, .meaning = event.desc},
              context);
    }
}

int nsp_libpfm_visit(nsp_counter_visitor visit, void *context, char *why, size_t room)
{
    if (!is_ready(why, room))
        return -ENOTSUP;
    for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX; ++id) {
        pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

        if (libpfm.pmu_info((pfm_pmu_t)id, &pmu) == PFM_SUCCESS && pmu.is_present)
            visit_pmu(&pmu, visit, context);
    }
    return 0;
}

#else /* built without the header */

int nsp_libpfm_find(const char *name, struct nsp_event *event, char *why, size_t room)
{
    (void)name;
    (void)event;
    snprintf(why, room, "more with libpfm4, but built without it");
    return -ENOTSUP;
}

int nsp_libpfm_visit(nsp_counter_visitor visit, void *context, char *why, size_t room)
{
    (void)visit;
    (void)context;
    snprintf(why, room, "libpfm4: unavailable: built without it");
    return -ENOTSUP;
}

#endif
