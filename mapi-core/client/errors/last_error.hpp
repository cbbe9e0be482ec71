// SPDX-License-Identifier: MIT
// Last error: exceptions of a call -> what mapi_read_error() tells its thread.
#pragma once

#include <new>

#include "engine/error.hpp"

namespace mapi::client
{
// The text of the number stands before the one that is given.
void set_last_error(int number, const char *text) noexcept;
// False when there is none; clears it.
bool take_last_error(int *number, char *text) noexcept;

// The border: no exception gets past it.
template <class Value, class Call> Value guard(Value failed, Call call) noexcept
{
    try {
        return call();
    } catch (const Error &error) {
        set_last_error(error.number(), error.what());
    } catch (const std::bad_alloc &) {
        set_last_error(MAPID_MEM_ALLOCATION_ERROR, "out of memory");
    } catch (const std::exception &error) {
        set_last_error(MAPI_INTERNAL_ERROR, error.what());
    }
    return failed;
}
} // namespace mapi::client
