/* SPDX-License-Identifier: MIT */
/* Rules for which slices a session records: comma-separated patterns, and the names they select. */
#ifndef NSP_SELECTION_H
#define NSP_SELECTION_H

#include <stddef.h>
#include <stdio.h>

/* nslice/rules.h defines them.  Returns 0, or -EINVAL with the reason in nsp_last_error(). */
int nsp_selection_check(const char *rules);

/* Whether rules that have been checked select this name. */
int nsp_selection_has(const char *rules, const char *name);

/*
 * Prints a line for each pattern that matches none of these names, with the first of them.  The
 * names are sorted.  Patterns of the kernel's names are left out.
 */
void nsp_selection_report(FILE *to, const char *prefix, const char *rules, const char *const *names,
                          size_t count);

#endif /* NSP_SELECTION_H */
