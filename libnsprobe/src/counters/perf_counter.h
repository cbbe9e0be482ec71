/* SPDX-License-Identifier: MIT */
/* One perf counter of one thread: opened, mapped, closed. */
#ifndef NSP_PERF_COUNTER_H
#define NSP_PERF_COUNTER_H

#include <linux/perf_event.h>

#include "event.h"

struct nsp_perf_counter {
    uint32_t kinds; /* of cores: one event each, of which the one on the thread's core counts */
    int fd[NSP_CORE_KINDS];
    uint64_t id[NSP_CORE_KINDS]; /* the kernel's: a program that closes what it did not open gives the descriptor's number to another file */
    struct perf_event_mmap_page *page[NSP_CORE_KINDS]; /* NULL: not to be had (locked memory is limited) */
};

/* Counts from now on, for the calling thread.  0 or -errno of perf_event_open(). */
int nsp_perf_counter_open(const struct nsp_event *event, struct nsp_perf_counter *counter);

void nsp_perf_counter_close(struct nsp_perf_counter *counter);

/* The kernel's word on whether programs may read the register. */
int nsp_perf_counter_has_user_reads(const struct nsp_perf_counter *counter);

/* Asks for user reads in the way that the architecture wants, as far as the kernel grants it. */
void nsp_perf_ask_for_user_reads(struct nsp_event *event);

/* Refusals in words; they return -ENOTSUP. */
int nsp_perf_explain_refusal(const char *name, const struct nsp_event *event, int err);
int nsp_perf_explain_no_user_reads(const char *name);
int nsp_perf_explain_no_register(const char *name, uint32_t count);

#endif /* NSP_PERF_COUNTER_H */
