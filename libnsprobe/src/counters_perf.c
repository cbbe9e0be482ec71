/* SPDX-License-Identifier: MIT */
/* Counter sources `rdpmc` and `perf-read`: names -> perf events of each thread, for user-space instructions. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "error.h"
#include "thread.h"

struct event_name {
    const char *name;
    uint64_t config; /* of PERF_TYPE_HARDWARE */
};

static const struct event_name events[] = {
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
    {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
};

static uint64_t chosen[NSLICE_MAX_COUNTERS];
static uint32_t chosen_count;
static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static int open_event(uint64_t config)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attr),
        .config = config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .pinned = 1, /* all of the time or an error, never a share */
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int explain_open_failure(const char *name, int err)
{
    switch (err) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return nsp_fail(-ENOTSUP, "counter \"%s\": this machine shows no PMU to programs (most virtual machines); "
                        "source=step counts instructions without one, or leave counters out", name);
    case EACCES:
    case EPERM:
        return nsp_fail(-ENOTSUP, "counter \"%s\": the kernel refuses perf_event_open; lower "
                        "/proc/sys/kernel/perf_event_paranoid to 2 or less, or use source=step", name);
    case ENOSYS:
        return nsp_fail(-ENOTSUP, "counter \"%s\": this kernel (or its sandbox) has no perf_event_open; use source=step", name);
    default:
        return nsp_fail(-ENOTSUP, "counter \"%s\": perf_event_open: %s", name, strerror(err));
    }
}

static const struct event_name *find_event(const char *name)
{
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); ++i)
        if (strcmp(events[i].name, name) == 0)
            return &events[i];
    return NULL;
}

static int unknown_name(const char *name)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); ++i)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", events[i].name);
    return nsp_fail(-EINVAL, "unknown counter \"%s\"; known: %s", name, known);
}

static struct perf_event_mmap_page *map_page(int fd)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : page;
}

/* Tries each event once on this thread, so that a refusal comes at the start and not at the first probe. */
static int probe_events(const char *const *names, uint32_t count, int need_user_reads)
{
    for (uint32_t i = 0; i < count; ++i) {
        struct perf_event_mmap_page *page;
        int fd = open_event(chosen[i]), user_reads;

        if (fd < 0)
            return explain_open_failure(names[i], errno);
        page = map_page(fd);
        user_reads = page && page->cap_user_rdpmc;
        if (page)
            munmap(page, (size_t)sysconf(_SC_PAGESIZE));
        close(fd);
        if (need_user_reads && !user_reads)
            return nsp_fail(-ENOTSUP, "counter \"%s\": the kernel does not let programs read it (cap_user_rdpmc is 0; see "
                            "/sys/bus/event_source/devices/cpu/rdpmc); use source=perf-read", names[i]);
    }
    return 0;
}

static int choose(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const struct event_name *event = find_event(names[i]);

        if (!event)
            return unknown_name(names[i]);
        chosen[i] = event->config;
    }
    chosen_count = count;
    return 0;
}

static int rdpmc_open(const char *const *names, uint32_t count)
{
    int err = choose(names, count);

    return err ? err : probe_events(names, count, 1);
}

static int perf_read_open(const char *const *names, uint32_t count)
{
    int err = choose(names, count);

    return err ? err : probe_events(names, count, 0);
}

static void perf_close(void)
{
}

static void release_thread(void *value)
{
    struct nsp_perf_thread *thread = value;

    /* A probe after this one, in a later destructor, must not touch what is gone. */
    nsp_thread.counters_failed = 1;
    nsp_thread.counters = NULL;
    for (uint32_t i = 0; i < thread->count; ++i) {
        if (thread->page[i])
            munmap(thread->page[i], (size_t)sysconf(_SC_PAGESIZE));
        close(thread->fd[i]);
    }
    free(thread);
}

void nsp_perf_after_fork(void)
{
    struct nsp_perf_thread *thread = nsp_thread.counters;

    if (!thread)
        return;
    for (uint32_t i = 0; i < thread->count; ++i)
        close(thread->fd[i]); /* the pages are not mapped in a child */
    free(thread);
    nsp_thread.counters = NULL;
    pthread_setspecific(thread_key, NULL);
}

static void make_key(void)
{
    pthread_key_create(&thread_key, release_thread);
}

static int perf_thread_begin(void)
{
    struct nsp_perf_thread *thread;

    pthread_once(&thread_key_once, make_key);
    if (nsp_thread.counters) {
        pthread_setspecific(thread_key, NULL); /* or the thread's end would release it once more */
        release_thread(nsp_thread.counters);
    }
    thread = calloc(1, sizeof(*thread));
    if (!thread)
        return -ENOMEM;
    for (uint32_t i = 0; i < chosen_count; ++i) {
        thread->fd[i] = open_event(chosen[i]);
        if (thread->fd[i] < 0) {
            release_thread(thread);
            return -EMFILE;
        }
        thread->page[i] = map_page(thread->fd[i]);
        thread->count = i + 1;
        if (!thread->page[i] && nsp_active_source == &nsp_source_rdpmc) { /* perf_event_mlock_kb is used up */
            release_thread(thread);
            return -ENOMEM;
        }
    }
    nsp_thread.counters = thread;
    pthread_setspecific(thread_key, thread);
    return 0;
}

const struct nsp_counter_ops nsp_source_rdpmc = {
    .name = "rdpmc",
    .open = rdpmc_open,
    .close = perf_close,
    .thread_begin = perf_thread_begin,
    .read = nsp_rdpmc_read,
};

const struct nsp_counter_ops nsp_source_perf_read = {
    .name = "perf-read",
    .open = perf_read_open,
    .close = perf_close,
    .thread_begin = perf_thread_begin,
    .read = nsp_perf_read,
};
