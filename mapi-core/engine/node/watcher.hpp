// SPDX-License-Identifier: MIT
// Watcher: an object of a client's functions that sees all packets of a device.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <mapi/function_setup.h>

namespace mapi::engine
{
struct Watcher {
    const mapi_common_object *kind;
    std::shared_ptr<void> object;

    // A table may be of an older plug-in.
    static bool is_watching(const mapi_common_object &kind)
    {
        return kind.struct_size >= offsetof(mapi_common_object, watch) + sizeof(kind.watch) &&
               kind.watch;
    }
    bool operator==(const Watcher &other) const { return object == other.object; }
};

using Watchers = std::vector<Watcher>;
} // namespace mapi::engine
