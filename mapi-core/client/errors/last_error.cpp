// SPDX-License-Identifier: MIT
// Last error: one per thread.
#include "client/errors/last_error.hpp"

#include <cstdio>
#include <cstring>

#include <mapi/explain.h>

#include "client/errors/error_text.hpp"

namespace mapi::client
{
namespace
{
// The text is on the heap: thread-local memory of this library is in the static block, of which
// little is left for a program that loads the library with dlopen().
struct LastError {
    int number = 0;
    char *text = nullptr;

    ~LastError()
    {
        delete[] text;
        text = nullptr; // other destructors of the thread may fail as well
    }
};

thread_local LastError last_error;
} // namespace

void set_last_error(int number, const char *text) noexcept
{
    last_error.number = number;
    if (!last_error.text && !(last_error.text = new (std::nothrow) char[MAPI_ERROR_TEXT_BYTES]))
        return; // the general text of the number is returned
    mapi_explain(last_error.text, MAPI_ERROR_TEXT_BYTES, *text ? text : error_text(number));
}

void set_internal_error(const char *what) noexcept
{
    char text[MAPI_ERROR_TEXT_BYTES];
    snprintf(text, sizeof(text), "internal error: %s", what);
    set_last_error(MAPI_INTERNAL_ERROR, text);
}

bool take_last_error(int *number, char *text) noexcept
{
    if (number)
        *number = last_error.number;
    if (text)
        strcpy(text, last_error.number == 0 ? ""
                     : last_error.text      ? last_error.text
                                            : error_text(last_error.number));
    const bool had_one = last_error.number != 0;
    last_error.number = 0;
    return had_one;
}
} // namespace mapi::client
