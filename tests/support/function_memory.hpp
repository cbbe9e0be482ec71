// SPDX-License-Identifier: MIT
// Function memory: what create() gets if a test replaces the engine: unlimited memory, one common
// object of each kind.
#pragma once

#include <map>
#include <memory>

#include <mapi/function.h>

inline void give_memory(mapi_function_setup &setup)
{
    setup.reserve_memory = [](const mapi_function_setup *, uint64_t) { return 0; };
    setup.common_object = [](const mapi_function_setup *,
                             const mapi_common_object *kind) -> void * {
        static std::map<const mapi_common_object *, std::shared_ptr<void>> objects;
        auto &object = objects[kind];
        if (!object)
            object = {kind->create(), kind->destroy};
        return object.get();
    };
}
