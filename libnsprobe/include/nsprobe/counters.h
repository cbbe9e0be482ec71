/* SPDX-License-Identifier: MIT */
/* Counters by name: which exist on this machine, and which a program may use. */
#ifndef NSPROBE_COUNTERS_H
#define NSPROBE_COUNTERS_H

#include <nsprobe/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NSP_COUNTER_NAME_BYTES 256

struct nsp_counter_info {
    const char *name;    /* as for `counters=`; valid only during the visit */
    const char *group;   /* owner of the event: "generic", or libpfm4's description of the PMU */
    const char *meaning; /* a sentence, or NULL if there is none */
};

typedef void (*nsp_counter_visitor)(const struct nsp_counter_info *info, void *context);

/*
 * Visits the names that are known here: the kernel's own, then libpfm4's for each PMU that it
 * finds.  A known counter need not be usable: see nsp_counter_try().  Returns 0, or -ENOTSUP if
 * libpfm4 is missing (the kernel's own names have been visited then, and nsp_last_error() has the
 * reason).  Any thread; not a signal handler.
 */
int nsp_counters_visit(nsp_counter_visitor visit, void *context);

enum nsp_counter_access {
    NSP_COUNTER_REFUSED = 0,    /* nsp_last_error() has the reason and the remedy */
    NSP_COUNTER_PERF_READ = 1,  /* only by system call; nsp_last_error() has the reason */
    NSP_COUNTER_USER_READS = 2, /* source rdpmc */
};

/* Opens the counter on the calling thread and closes it again.  Any thread; not a signal handler.
 */
enum nsp_counter_access nsp_counter_try(const char *name);

/*
 * Whether a session could use these counters (comma-separated, as in nsp_session_config) with this
 * source.  Returns 0, or -errno with the reason and the remedy in nsp_last_error().  Also returns 0
 * while a session is open, since its counters must not be disturbed.  Any thread; not a signal
 * handler.
 */
int nsp_source_try(enum nsp_counter_source source, const char *counters);

#ifdef __cplusplus
}
#endif

#endif /* NSPROBE_COUNTERS_H */
