/* SPDX-License-Identifier: MIT */
/* Rules for which slices a session records: comma-separated patterns, and the names they select. */
#ifndef NSP_SELECTION_H
#define NSP_SELECTION_H

/* nslice/rules.h defines them.  Returns 0, or -EINVAL with the reason in nsp_last_error(). */
int nsp_selection_check(const char *rules);

/* Whether rules that have been checked select this name. */
int nsp_selection_has(const char *rules, const char *name);

#endif /* NSP_SELECTION_H */
