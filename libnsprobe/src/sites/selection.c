/* SPDX-License-Identifier: MIT */
/* Rules of a session and the name of a slice -> whether it is recorded. */
#include "selection.h"

#include <errno.h>
#include <string.h>

#include <nslice/rules.h>

#include "session/error.h"

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
