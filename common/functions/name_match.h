/* SPDX-License-Identifier: MIT */
/* Name of a function + regular expression -> whether it is meant. */
#ifndef NSF_NAME_MATCH_H
#define NSF_NAME_MATCH_H

#include <regex.h>
#include <stddef.h>
#include <string.h>

/* Other symbols, such as `i`, would be taken for the names of types. */
static inline int nsf_is_mangled(const char *symbol)
{
    return symbol[0] == '_' && symbol[1] == 'Z';
}

/* The length of a name up to its last list of arguments, behind which there may be `const`. */
static inline size_t nsf_bytes_without_arguments(const char *name)
{
    const size_t bytes = strlen(name);
    int depth = 0;

    for (size_t at = bytes; at > 0; --at) {
        depth += name[at - 1] == ')';
        depth -= name[at - 1] == '(';
        if (name[at - 1] == '(' && depth == 0)
            return at - 1;
    }
    return bytes;
}

/* The expression is found in the name, with or without its arguments, or in the symbol. */
static inline int nsf_is_match(const regex_t *expression, const char *name, const char *symbol)
{
    regmatch_t part[1];

    part[0].rm_so = 0;
    part[0].rm_eo = (regoff_t)nsf_bytes_without_arguments(name);
    return regexec(expression, name, 0, NULL, 0) == 0 ||
           regexec(expression, name, 0, part, REG_STARTEND) == 0 ||
           regexec(expression, symbol, 0, NULL, 0) == 0;
}

#endif /* NSF_NAME_MATCH_H */
