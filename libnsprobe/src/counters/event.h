/* SPDX-License-Identifier: MIT */
/* A counter's name -> arguments for perf_event_open(). */
#ifndef NSP_EVENT_H
#define NSP_EVENT_H

#include <stdint.h>

#include <nsprobe/counters.h>

/*
 * Kinds of core in one machine (performance and efficiency, big and little): each has its own PMU.
 */
#define NSP_CORE_KINDS 4

struct nsp_event_code {
    uint32_t type;
    uint64_t config, config1, config2; /* as in struct perf_event_attr */
};

struct nsp_event {
    uint32_t kinds; /* 1, or one for each kind of core: the counter is the sum */
    struct nsp_event_code code[NSP_CORE_KINDS];
    uint8_t exclude_user, exclude_kernel, exclude_hv;
};

/*
 * Names are libpfm4's (including masks and modifiers, such as
 * "BR_INST_RETIRED:CONDITIONAL:u") or, without that library, the few that every kernel
 * supports.  User space is counted unless the name says otherwise; software events count
 * in both user space and kernel.  Returns 0, or -EINVAL or -ENOTSUP with the reason in
 * nsp_last_error().
 */
int nsp_event_find(const char *name, struct nsp_event *event);

/* The kernel's own names, which require no library; NULL after the last. */
const struct nsp_counter_info *nsp_event_generic(unsigned at);

/* perf's type numbers of the core PMUs; returns their count, 0 if all cores are alike. */
uint32_t nsp_core_pmus(uint32_t types[NSP_CORE_KINDS]);

#endif /* NSP_EVENT_H */
