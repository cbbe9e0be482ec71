/* SPDX-License-Identifier: MIT */
/* Rules for which slices a session records: comma-separated patterns, and the names they select. */
#ifndef NSP_SELECTION_H
#define NSP_SELECTION_H

/*
 * "filter*,!publish": a slice is selected if a pattern matches its name, or there is none without
 * "!", and no pattern with "!" matches it.  Patterns are those of the shell (fnmatch(3)).  Empty
 * text selects all.
 */

/* Returns 0, or -EINVAL with the reason in nsp_last_error(). */
int nsp_selection_check(const char *rules);

/* Whether rules that have been checked select this name. */
int nsp_selection_has(const char *rules, const char *name);

/*
 * Patterns one after the other, for messages about those that match nothing.  Copies the next one,
 * without its "!", and returns the rest of the rules; NULL: no more.
 */
const char *nsp_selection_next(const char *rules, char *pattern, int *is_excluding);

#endif /* NSP_SELECTION_H */
