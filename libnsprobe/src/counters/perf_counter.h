/* SPDX-License-Identifier: MIT */
/* One perf counter of one thread: opened, mapped, closed. */
#ifndef NSP_PERF_COUNTER_H
#define NSP_PERF_COUNTER_H

#include <linux/perf_event.h>

#include "event.h"

struct nsp_perf_counter {
    uint32_t kinds; /* of cores: one event each; only that of the thread's current core counts */
    int fd[NSP_CORE_KINDS];
    uint64_t id[NSP_CORE_KINDS]; /* the kernel's: the program may reuse the fd's number */
    struct perf_event_mmap_page *page[NSP_CORE_KINDS]; /* NULL: unavailable (locked memory limit) */
};

/* Starts counting for the calling thread.  Returns 0 or the -errno of perf_event_open(). */
int nsp_perf_counter_open(const struct nsp_event *event, struct nsp_perf_counter *counter);

void nsp_perf_counter_close(struct nsp_perf_counter *counter);

/* Whether the kernel allows programs to read the register. */
int nsp_perf_counter_has_user_reads(const struct nsp_perf_counter *counter);

/* Requests user-space reads as the architecture requires, if the kernel grants them. */
void nsp_perf_ask_for_user_reads(struct nsp_event *event);

/* Set the error text for a refusal; return -ENOTSUP. */
int nsp_perf_explain_refusal(const char *name, const struct nsp_event *event, int err);
int nsp_perf_explain_no_user_reads(const char *name);
int nsp_perf_explain_no_register(const char *name, uint32_t count);

#endif /* NSP_PERF_COUNTER_H */
