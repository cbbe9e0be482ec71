/* SPDX-License-Identifier: MIT */
/* Counter source `papi`: PAPI's event sets, one per thread, as in D3.4; PAPI loaded on request. */
#include "counters_papi.h"

#include <errno.h>

#include "counters.h"
#include "event.h"
#include "session/error.h"

NSP_THREAD_LOCAL struct nsp_papi_thread nsp_papi_thread;

#ifdef NSPROBE_HAS_PAPI

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <papi.h>

#include "load_library.h"

static struct {
    int (*library_init)(int version);
    int (*is_initialized)(void);
    int (*thread_init)(unsigned long (*id)(void));
    int (*create_eventset)(int *set);
    int (*add_named_event)(int set, const char *name);
    int (*start)(int set);
    int (*read)(int set, long long *values);
    int (*stop)(int set, long long *values);
    int (*cleanup_eventset)(int set);
    int (*destroy_eventset)(int *set);
    int (*unregister_thread)(void);
    char *(*strerror)(int code);
    const PAPI_component_info_t *(*component_info)(int component);
} papi;

static char chosen[NSLICE_MAX_COUNTERS][PAPI_MAX_STR_LEN];
static uint32_t chosen_count;
static pthread_key_t thread_key;
static int state;    /* 1: the library is ready */
static int is_child; /* of fork(): stopping PAPI's counters would stop the parent's */

struct same_event {
    const char *general, *preset;
    const char *perf; /* the kernel's event, for CPUs newer than this PAPI's presets */
};

/* Names with the same meaning for every source. */
static const struct same_event same_events[] = {
    {"instructions", "PAPI_TOT_INS", "perf::INSTRUCTIONS"},
    {"cycles", "PAPI_TOT_CYC", "perf::CYCLES"},
    {"ref-cycles", "PAPI_REF_CYC", "perf::REF-CYCLES"},
    {"branches", "PAPI_BR_INS", "perf::BRANCHES"},
    {"branch-misses", "PAPI_BR_MSP", "perf::BRANCH-MISSES"},
};

static const struct same_event *find_same_event(const char *name)
{
    for (size_t i = 0; i < sizeof(same_events) / sizeof(same_events[0]); ++i)
        if (strcmp(same_events[i].general, name) == 0)
            return &same_events[i];
    return NULL;
}

static const char *papi_name(const char *name)
{
    const struct same_event *same = find_same_event(name);

    return same ? same->preset : name;
}

static unsigned long thread_id(void)
{
    return (unsigned long)pthread_self();
}

/* Tries the version that it was built against first, since that has the structures used here. */
static void *open_library(void)
{
    char name[32];
    void *library;

    snprintf(name, sizeof(name), "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION));
    library = nsp_load_library(name);
    if (library)
        return library;
    snprintf(name, sizeof(name), "libpapi.so.%d", PAPI_VERSION_MAJOR(PAPI_VERSION));
    return nsp_load_library(name);
}

static int find_functions(void *library)
{
    static const char *const names[] = {"PAPI_library_init",
                                        "PAPI_is_initialized",
                                        "PAPI_thread_init",
                                        "PAPI_create_eventset",
                                        "PAPI_add_named_event",
                                        "PAPI_start",
                                        "PAPI_read",
                                        "PAPI_stop",
                                        "PAPI_cleanup_eventset",
                                        "PAPI_destroy_eventset",
                                        "PAPI_unregister_thread",
                                        "PAPI_strerror",
                                        "PAPI_get_component_info"};
    void *const places[] = {&papi.library_init,
                            &papi.is_initialized,
                            &papi.thread_init,
                            &papi.create_eventset,
                            &papi.add_named_event,
                            &papi.start,
                            &papi.read,
                            &papi.stop,
                            &papi.cleanup_eventset,
                            &papi.destroy_eventset,
                            &papi.unregister_thread,
                            &papi.strerror,
                            &papi.component_info};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        void *symbol = dlsym(library, names[i]);

        if (!symbol)
            return 0;
        memcpy(places[i], &symbol, sizeof(symbol)); /* ISO C: no cast to a function pointer */
    }
    return 1;
}

static void end_set(int *set)
{
    long long last[NSLICE_MAX_COUNTERS];

    papi.stop(*set, last);
    papi.cleanup_eventset(*set);
    papi.destroy_eventset(set);
    *set = PAPI_NULL;
}

/* PAPI allows one running set per thread. */
static void release_calling_thread(void)
{
    nsp_thread.counters_failed = 1;
    pthread_setspecific(thread_key, NULL);
    nsp_papi_thread.is_reading = 1;
    end_set(&nsp_papi_thread.event_set);
    nsp_papi_thread.is_reading = 0;
}

static void end_thread(void *unused)
{
    (void)unused;
    nsp_thread.release = NULL;
    release_calling_thread();
    papi.unregister_thread(); /* else PAPI keeps its data on the thread */
}

static void *run_nothing(void *unused)
{
    return unused;
}

/*
 * PAPI_read() calls the C library's read(), a cancellation point: from the process's
 * second thread on, glibc permanently switches cancellation around it (78 instructions
 * on arm64).  The second thread is therefore created here, before the first
 * calibration; otherwise a read would cost less during calibration than in a session
 * with a drain thread or in a program that starts threads later.
 */
static int leave_single_threaded(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, run_nothing, NULL) || pthread_join(thread, NULL);
}

static int load(void)
{
    void *library;
    int version;

    if (is_child)
        return nsp_fail(
            -ENOTSUP,
            "source papi: PAPI's counters do not survive fork() (use source=auto in the child)");
    if (state)
        return 0;
    if (!nsp_can_load_libraries())
        return nsp_fail(-ENOTSUP, "source papi: a statically linked program cannot load PAPI (link "
                                  "libc dynamically, or use source=auto)");
    library = open_library();
    if (!library || !find_functions(library))
        return nsp_fail(
            -ENOTSUP,
            "source papi: PAPI library not found: %s (install libpapi7.0, or use source=auto)",
            dlerror());
    version = papi.is_initialized() == PAPI_NOT_INITED ? papi.library_init(PAPI_VER_CURRENT)
                                                       : (int)PAPI_VER_CURRENT;
    if (version != (int)PAPI_VER_CURRENT)
        return nsp_fail(-ENOTSUP, "source papi: PAPI_library_init: %s",
                        version > 0 ? "not the version libnsprobe was built with"
                                    : papi.strerror(version));
    if (leave_single_threaded() || papi.thread_init(thread_id) != PAPI_OK ||
        pthread_key_create(&thread_key, end_thread))
        return nsp_fail(-ENOTSUP, "source papi: PAPI cannot be used with threads here");
    state = 1;
    return 0;
}

static int explain(const char *name, int code)
{
    const PAPI_component_info_t *component = papi.component_info(0);
    const char *reason = component && component->disabled ? component->disabled_reason : "";

    return nsp_fail(-ENOTSUP,
                    "counter \"%s\": PAPI: %s%s%s (`papi_avail` and `papi_native_avail` list the "
                    "events that PAPI has here; source=auto uses what the kernel offers)",
                    name, papi.strerror(code), *reason ? ": " : "", reason);
}

/*
 * PAPI opens events for user space only and ignores perf's modifiers: it would count zero, or
 * something else.
 */
static int refuse_kernel_events(const char *name)
{
    struct nsp_event event;

    if (nsp_event_find(papi_name(name), &event))
        return 0; /* one of PAPI's own names */
    if (event.exclude_user || (strstr(name, ":k") && !event.exclude_kernel) || strstr(name, ":h"))
        return nsp_fail(-ENOTSUP,
                        "counter \"%s\": source papi counts user space only (use source=perf-read)",
                        name);
    if (event.code[0].type == PERF_TYPE_SOFTWARE &&
        event.code[0].config != PERF_COUNT_SW_PAGE_FAULTS &&
        event.code[0].config != PERF_COUNT_SW_PAGE_FAULTS_MIN &&
        event.code[0].config != PERF_COUNT_SW_PAGE_FAULTS_MAJ)
        return nsp_fail(-ENOTSUP,
                        "counter \"%s\": occurs in the kernel, but source papi counts user space "
                        "only (use source=perf-read)",
                        name);
    return 0;
}

/* Starts the calling thread's event set; *at: index of the refused name. */
static int begin_set(int *set, uint32_t *at)
{
    int code;

    *set = PAPI_NULL;
    *at = 0;
    code = papi.create_eventset(set);
    for (; code == PAPI_OK && *at < chosen_count; ++*at) {
        code = papi.add_named_event(*set, chosen[*at]);
        if (code != PAPI_OK)
            break;
    }
    if (code == PAPI_OK) {
        *at = 0;
        code = papi.start(*set);
    }
    if (code != PAPI_OK && *set != PAPI_NULL)
        end_set(set);
    return code;
}

/* Returns 0 if there is no alternative name, or it is already chosen. */
static int choose_perf_name(const char *name, uint32_t place)
{
    const struct same_event *same = find_same_event(name);

    if (!same || strcmp(chosen[place], same->perf) == 0)
        return 0;
    snprintf(chosen[place], sizeof(chosen[place]), "%s", same->perf);
    return 1;
}

static int papi_open(const char *const *names, uint32_t count)
{
    uint32_t refused;
    int err = load(), set, code;

    if (err)
        return err;
    for (uint32_t i = 0; i < count; ++i) {
        err = refuse_kernel_events(names[i]);
        if (err)
            return err;
    }
    chosen_count = count;
    for (uint32_t i = 0; i < count; ++i)
        snprintf(chosen[i], sizeof(chosen[i]), "%s", papi_name(names[i]));
    code = begin_set(&set, &refused);
    while (code != PAPI_OK && choose_perf_name(names[refused], refused))
        code = begin_set(&set, &refused);
    if (code != PAPI_OK)
        return explain(names[refused], code);
    end_set(&set);
    return 0;
}

static int papi_thread_begin(void)
{
    struct nsp_papi_thread *thread = &nsp_papi_thread;
    uint32_t refused;

    if (is_child)
        return -ENOTSUP;
    if (begin_set(&thread->event_set, &refused) != PAPI_OK)
        return -ENOTSUP;
    nsp_thread.release = release_calling_thread;
    pthread_setspecific(thread_key, thread);
    return 0;
}

void nsp_papi_after_fork(void)
{
    if (!state)
        return;
    pthread_setspecific(thread_key, NULL);
    if (nsp_thread.release == release_calling_thread)
        nsp_thread.release = NULL;
    is_child = 1;
}

void nsp_papi_read_now(void)
{
    const int saved_errno = errno;

    nsp_papi_thread.result = papi.read(nsp_papi_thread.event_set, nsp_papi_thread.values);
    errno = saved_errno;
}

#else /* built without the header */

static int papi_open(const char *const *names, uint32_t count)
{
    (void)names;
    (void)count;
    return nsp_fail(-ENOTSUP, "source papi: unavailable: built without PAPI (install libpapi-dev "
                              "and rebuild, or use source=auto)");
}

static int papi_thread_begin(void)
{
    return -ENOTSUP;
}

void nsp_papi_after_fork(void) {}

void nsp_papi_read_now(void)
{
    nsp_papi_thread.result = -1;
}

#endif

const struct nsp_counter_ops nsp_source_papi = {
    .name = "papi",
    .open = papi_open,
    .thread_begin = papi_thread_begin,
    .read = nsp_papi_read,
};
