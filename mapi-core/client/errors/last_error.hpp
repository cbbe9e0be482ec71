// SPDX-License-Identifier: MIT
// Last error: exceptions of a call -> what mapi_read_error() returns to its thread.
#pragma once

#include <new>

#include "engine/error.hpp"

namespace mapi::client
{
// text: the object and what is wrong with it.  Empty: the general text of the number is used.
void set_last_error(int number, const char *text) noexcept;
// what: of an unexpected exception.
void set_internal_error(const char *what) noexcept;
// Clears the error; false if there is none.
bool take_last_error(int *number, char *text) noexcept;

// No exception passes this function.
template <class Value, class Call> Value guard(Value failed, Call call) noexcept
{
    try {
        return call();
    } catch (const Error &error) {
        set_last_error(error.number(), error.what());
    } catch (const std::bad_alloc &) {
        set_last_error(MAPID_MEM_ALLOCATION_ERROR, "out of memory");
    } catch (const std::exception &error) {
        set_internal_error(error.what());
    }
    return failed;
}
} // namespace mapi::client
