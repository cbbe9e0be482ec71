/* SPDX-License-Identifier: MIT */
/* Counters by name: what this machine has, and whether a program may count with it. */
#ifndef NSPROBE_COUNTERS_H
#define NSPROBE_COUNTERS_H

#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSP_COUNTER_NAME_BYTES 256

struct nsp_counter_info {
    const char *name;    /* as `counters=` takes it; valid during the visit only */
    const char *group;   /* whose events these are: "generic", or libpfm4's words for a PMU */
    const char *meaning; /* a sentence, or NULL where nobody wrote one */
};

typedef void (*nsp_counter_visitor)(const struct nsp_counter_info *info, void *context);

/*
 * Names that are known here: the kernel's own, then libpfm4's for each PMU that it finds.  Known is not yet allowed:
 * see nsp_counter_try().  0, or -ENOTSUP where libpfm4 is not there (the kernel's own have been visited then, and
 * nsp_last_error() has the reason).  Any thread; not a signal handler.
 */
int nsp_counters_visit(nsp_counter_visitor visit, void *context);

enum nsp_counter_access {
    NSP_COUNTER_REFUSED = 0,    /* nsp_last_error() says why and what would work */
    NSP_COUNTER_PERF_READ = 1,  /* by system call only; nsp_last_error() says why not otherwise */
    NSP_COUNTER_USER_READS = 2, /* source rdpmc */
};

/* Opens the counter on the calling thread and closes it again.  Any thread; not a signal handler. */
enum nsp_counter_access nsp_counter_try(const char *name);

/*
 * Whether a session could count these (comma-separated, as in nsp_session_config) by this source.  0, or -errno with
 * nsp_last_error() saying why not and what would work.  0 also while a session is open, whose counters must not be
 * disturbed.  Any thread; not a signal handler.
 */
int nsp_source_try(enum nsp_counter_source source, const char *counters);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_COUNTERS_H */
