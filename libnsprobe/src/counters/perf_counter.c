/* SPDX-License-Identifier: MIT */
/* One perf counter of one thread: opened, mapped, closed. */
#define _GNU_SOURCE
#include "perf_counter.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "writer/arch.h"

static int open_event(const struct nsp_event *event, uint32_t kind)
{
    const struct nsp_event_code *code = &event->code[kind];
    struct perf_event_attr attr = {
        .type = code->type,
        .size = sizeof(attr),
        .config = code->config,
        .config1 = code->config1,
        .config2 = code->config2,
        .sample_period = nsp_counter_period,
        .read_format =
            PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID,
        .pinned = 1, /* always counting or an error, never multiplexed */
        .exclude_user = event->exclude_user,
        .exclude_kernel = event->exclude_kernel,
        .exclude_hv = event->exclude_hv,
    };
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static struct perf_event_mmap_page *map_page(int fd)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : page;
}

/* 0: not a counter's descriptor. */
static uint64_t id_of(int fd)
{
    uint64_t id = 0;

    return ioctl(fd, PERF_EVENT_IOC_ID, &id) ? 0 : id;
}

int nsp_perf_counter_open(const struct nsp_event *event, struct nsp_perf_counter *counter)
{
    memset(counter, 0, sizeof(*counter));
    for (uint32_t kind = 0; kind < event->kinds; ++kind) {
        const int fd = open_event(event, kind);

        if (fd < 0) {
            nsp_perf_counter_close(counter);
            return fd;
        }
        counter->fd[kind] = fd;
        counter->page[kind] = map_page(fd);
        counter->id[kind] = id_of(fd);
        counter->kinds = kind + 1;
    }
    return 0;
}

void nsp_perf_counter_close(struct nsp_perf_counter *counter)
{
    for (uint32_t kind = 0; kind < counter->kinds; ++kind) {
        if (counter->page[kind])
            munmap(counter->page[kind], (size_t)sysconf(_SC_PAGESIZE));
        if (counter->id[kind] == id_of(counter->fd[kind]))
            close(counter->fd[kind]);
    }
    counter->kinds = 0;
}

int nsp_perf_counter_has_user_reads(const struct nsp_perf_counter *counter)
{
    for (uint32_t kind = 0; kind < counter->kinds; ++kind)
        if (!counter->page[kind] || !counter->page[kind]->cap_user_rdpmc)
            return 0;
    return 1;
}

void nsp_perf_ask_for_user_reads(struct nsp_event *event)
{
    static const uint64_t wishes[] = NSP_USER_READ_CONFIG1;

    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); ++i) {
        struct nsp_event asked = *event;
        struct nsp_perf_counter counter;
        int granted;

        for (uint32_t kind = 0; kind < asked.kinds; ++kind)
            asked.code[kind].config1 |= wishes[i];
        if (nsp_perf_counter_open(&asked, &counter))
            continue;
        granted = nsp_perf_counter_has_user_reads(&counter);
        nsp_perf_counter_close(&counter);
        if (granted) {
            *event = asked;
            return;
        }
    }
}
