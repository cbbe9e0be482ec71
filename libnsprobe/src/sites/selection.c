/* SPDX-License-Identifier: MIT */
/* Rules of a session and the name of a slice -> whether it is recorded. */
#include "selection.h"

#include <errno.h>
#include <string.h>

#include <nslice/rules.h>

#include "session/error.h"

#define MOST_NAMES ((size_t)20) /* in a message */

int nsp_selection_check(const char *rules)
{
    switch (nslice_rules_check(rules, strlen(rules))) {
    case NSLICE_RULES_VALID: return 0;
    case NSLICE_RULES_TOO_LONG:
        return nsp_fail(-EINVAL, "slices: list longer than %d characters", NSLICE_RULES_TEXT - 1);
    case NSLICE_RULES_LAST_COMMA:
        return nsp_fail(-EINVAL, "slices=%s: a pattern is missing after the last comma", rules);
    case NSLICE_RULES_CONTROL_CHARACTER:
        return nsp_fail(-EINVAL, "slices: a pattern contains a control character");
    case NSLICE_RULES_NAMED_CLASS:
        return nsp_fail(-EINVAL, "slices=%s: named classes are unsupported (use ranges: [0-9])",
                        rules);
    case NSLICE_RULES_EMPTY_PATTERN: break;
    }
    return nsp_fail(-EINVAL, "slices=%s: empty pattern", rules);
}

int nsp_selection_has(const char *rules, const char *name)
{
    return nslice_rules_select(rules, name, 0);
}

static int matches_none(const struct nslice_rule *rule, const char *const *names, size_t count)
{
    /* The process does not know the kernel's names. */
    if (strncmp(rule->pattern, NSLICE_RULES_KERNEL, strlen(NSLICE_RULES_KERNEL)) == 0)
        return 0;
    while (count > 0)
        if (nslice_rule_matches(rule, names[--count], 0))
            return 0;
    return 1;
}

void nsp_selection_report(FILE *to, const char *prefix, const char *rules, const char *const *names,
                          size_t count)
{
    struct nslice_rule rule;

    for (; nslice_rules_next(rules, &rule); rules = rule.rest) {
        if (!matches_none(&rule, names, count))
            continue;
        fprintf(to, "%sslices: no slice or mark matches \"%s%.*s\"; available: %s", prefix,
                rule.is_excluding ? "!" : "", (int)(rule.end - rule.pattern), rule.pattern,
                count > 0 ? names[0] : "none");
        for (size_t i = 1; i < count && i < MOST_NAMES; ++i)
            fprintf(to, ", %s", names[i]);
        if (count > MOST_NAMES)
            fprintf(to, " and %zu more", count - MOST_NAMES);
        fputc('\n', to);
    }
}
