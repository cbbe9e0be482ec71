/* SPDX-License-Identifier: MIT */
/* Rules for which slices a session records: comma-separated patterns, and the names they select. */
#ifndef NSP_SELECTION_H
#define NSP_SELECTION_H

/*
 * A rule is a pattern of the shell (fnmatch(3)), as in "filter*,!publish".  A pattern with "!"
 * excludes the names that it matches.  If there are patterns without "!", a name must match one of
 * them.  Empty text selects all names.
 */

/* Returns 0, or -EINVAL with the reason in nsp_last_error(). */
int nsp_selection_check(const char *rules);

/* Whether rules that have been checked select this name. */
int nsp_selection_has(const char *rules, const char *name);

#endif /* NSP_SELECTION_H */
