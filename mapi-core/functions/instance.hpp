// SPDX-License-Identifier: MIT
// Instance: the members create() and destroy() that function tables have in common.
#pragma once

#include <mapi/function.h>

namespace mapi::functions
{
// Of a function whose state is an object.
template <class Object> void destroy(void *instance)
{
    delete static_cast<Object *>(instance);
}

// Of a counter: the result is all the state there is.
inline int create_in_result(const mapi_function_setup *setup, void **instance)
{
    *instance = setup->result;
    return 0;
}

inline void destroy_nothing(void *)
{
}
} // namespace mapi::functions
