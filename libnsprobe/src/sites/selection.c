/* SPDX-License-Identifier: MIT */
/* Rules of a session and the name of a slice -> whether it is recorded. */
#include "selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include <nslice/session.h>

#include "session/error.h"

/* Copies the next pattern, without its "!", and returns the rest of the rules; NULL: no more. */
static const char *next_pattern(const char *rules, char *pattern, int *is_excluding)
{
    size_t bytes;

    if (!*rules)
        return NULL;
    *is_excluding = *rules == '!';
    rules += *is_excluding;
    bytes = strcspn(rules, ",");
    memcpy(pattern, rules, bytes);
    pattern[bytes] = 0;
    rules += bytes;
    return *rules ? rules + 1 : rules;
}

int nsp_selection_check(const char *rules)
{
    char pattern[NSLICE_SESSION_SLICES_TEXT];
    const char *rest = rules;
    int is_excluding;
    const size_t bytes = strlen(rules);

    if (bytes >= NSLICE_SESSION_SLICES_TEXT)
        return nsp_fail(-EINVAL, "slices: list longer than %d characters",
                        NSLICE_SESSION_SLICES_TEXT - 1);
    if (bytes > 0 && rules[bytes - 1] == ',')
        return nsp_fail(-EINVAL, "slices=%s: a pattern is missing after the last comma", rules);
    while ((rest = next_pattern(rest, pattern, &is_excluding)))
        if (!*pattern)
            return nsp_fail(-EINVAL, "slices=%s: empty pattern", rules);
    return 0;
}

int nsp_selection_has(const char *rules, const char *name)
{
    char pattern[NSLICE_SESSION_SLICES_TEXT];
    int is_excluding, is_limited = 0, is_selected = 0;

    while ((rules = next_pattern(rules, pattern, &is_excluding))) {
        const int is_match = fnmatch(pattern, name, 0) == 0;

        if (is_excluding && is_match)
            return 0;
        is_limited |= !is_excluding;
        is_selected |= is_match && !is_excluding;
    }
    return is_selected || !is_limited;
}
