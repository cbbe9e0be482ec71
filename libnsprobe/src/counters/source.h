/* SPDX-License-Identifier: MIT */
/* Counter names and requested source -> the session's counter source. */
#ifndef NSP_SOURCE_H
#define NSP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include <nsprobe/session.h>

/*
 * Splits the names, tries the sources in the order rdpmc, perf-read, step (or only
 * the requested one) and sets nsp_active_source.  Without names: none.  *count: words
 * per record; `names`: the names as written to the trace.  Returns 0 or -errno.
 */
int nsp_source_choose(const char *wish, enum nsp_counter_source source, uint32_t *count,
                      char *names, size_t room);

void nsp_source_release(void);

/*
 * Why this source was chosen, for the trace: the errors of the sources before it in that order.  ""
 * without counters.
 */
const char *nsp_source_reason(void);

#endif /* NSP_SOURCE_H */
