/* SPDX-License-Identifier: MIT */
/* Counter names and wish -> the counter source that serves the session. */
#ifndef NSP_SOURCE_H
#define NSP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <nsprobe/session.h>

/*
 * Splits the names, tries the sources in the order rdpmc, perf-read, step (or
 * the one asked for), sets nsp_active_source.  No names: none.  *count words a
 * record; `names` gets them as the trace will carry them.  0 or -errno.
 */
int nsp_source_choose(const char *wish, enum nsp_counter_source source, uint32_t *count, char *names, size_t room);

void nsp_source_release(void);

/* Why it is this source, in words for the trace: what the ones before it in that order had to say.  "" without counters. */
const char *nsp_source_reason(void);

#endif /* NSP_SOURCE_H */
