// SPDX-License-Identifier: MIT
// Function memory: what create() gets if a test replaces the engine: unlimited memory, one common
// object of each kind.
#pragma once

#include <map>
#include <memory>

#include <mapi/function.h>

inline std::map<const mapi_common_object *, std::shared_ptr<void>> &common_objects()
{
    static std::map<const mapi_common_object *, std::shared_ptr<void>> objects;
    return objects;
}

inline void give_memory(mapi_function_setup &setup)
{
    setup.reserve_memory = [](const mapi_function_setup *, uint64_t) { return 0; };
    setup.common_object = [](const mapi_function_setup *,
                             const mapi_common_object *kind) -> void * {
        auto &object = common_objects()[kind];
        if (!object)
            object = {kind->create(), kind->destroy};
        return object.get();
    };
}

// Before functions get the batch.
inline void let_objects_watch(const mapi_batch &batch)
{
    for (const auto &[kind, object] : common_objects()) {
        if (kind->watch)
            kind->watch(object.get(), &batch);
    }
}
