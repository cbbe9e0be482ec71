/* SPDX-License-Identifier: MIT */
/* libpfm4, looked up when the first name needs it: programs that count nothing do not carry it. */
#ifndef NSP_EVENT_LIBPFM_H
#define NSP_EVENT_LIBPFM_H

#include <stddef.h>

#include <nsprobe/counters.h>

#include "event.h"

/* 0, or -errno with a clause that says why it did not find the name. */
int nsp_libpfm_find(const char *name, struct nsp_event *event, char *why, size_t room);

/* Every event of every PMU that the library sees on this machine.  0, or -ENOTSUP with a clause. */
int nsp_libpfm_visit(nsp_counter_visitor visit, void *context, char *why, size_t room);

#endif /* NSP_EVENT_LIBPFM_H */
