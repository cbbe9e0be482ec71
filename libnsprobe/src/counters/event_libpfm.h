/* SPDX-License-Identifier: MIT */
/* libpfm4, loaded when the first name requires it: programs without counters do not load it. */
#ifndef NSP_EVENT_LIBPFM_H
#define NSP_EVENT_LIBPFM_H

#include <stddef.h>

#include <nsprobe/counters.h>

#include "event.h"

/* Returns 0, or -errno with the reason as a clause in `why`. */
int nsp_libpfm_find(const char *name, struct nsp_event *event, char *why, size_t room);

/*
 * Visits every event of every PMU that libpfm4 detects.  Returns 0, or -ENOTSUP with the reason in
 * `why`.
 */
int nsp_libpfm_visit(nsp_counter_visitor visit, void *context, char *why, size_t room);

#endif /* NSP_EVENT_LIBPFM_H */
