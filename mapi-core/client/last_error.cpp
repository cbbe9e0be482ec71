// SPDX-License-Identifier: MIT
// Last error: one for each thread.
#include "client/last_error.hpp"

#include <cstdio>
#include <cstring>

#include <mapi/explain.h>

#include "client/error_text.hpp"

namespace mapi::client
{
namespace
{
struct LastError {
    int number;
    char text[MAPI_ERROR_TEXT_BYTES];
};

thread_local LastError last_error;
} // namespace

void set_last_error(int number, const char *text) noexcept
{
    last_error.number = number;
    // A plug-in may have numbers of its own, for which there is no text.
    const char *const known = error_text(number);
    const int head = snprintf(last_error.text, sizeof(last_error.text), "%s%s", known, *known && *text ? ": " : "");
    mapi_explain(last_error.text + head, sizeof(last_error.text) - size_t(head), text);
}

bool take_last_error(int *number, char *text) noexcept
{
    if (number)
        *number = last_error.number;
    if (text)
        strcpy(text, last_error.number ? last_error.text : "");
    const bool had_one = last_error.number != 0;
    last_error.number = 0;
    return had_one;
}
} // namespace mapi::client
