/* SPDX-License-Identifier: MIT */
/* Explain: copies a text of any length into the caller's buffer.  For functions and drivers. */
#ifndef MAPI_EXPLAIN_H
#define MAPI_EXPLAIN_H

#include <stddef.h>
#include <string.h>

/*
 * A text that does not fit loses its middle: it begins with the object, such as a long path or
 * expression, and ends with the cause.
 */
static inline void mapi_explain(char *to, size_t room, const char *text)
{
    const size_t length = strlen(text);
    size_t head;

    if (room == 0)
        return;
    if (length < room) {
        memcpy(to, text, length + 1);
        return;
    }
    head = room > 3 ? (room - 4) / 3 : 0;
    memcpy(to, text, head);
    memset(to + head, '.', room - 1 - head);
    if (room > 3) /* the end, including the zero */
        memcpy(to + head + 3, text + length - (room - 4 - head), room - 3 - head);
    else
        to[room - 1] = '\0';
}

#endif /* MAPI_EXPLAIN_H */
