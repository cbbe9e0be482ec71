// SPDX-License-Identifier: MIT
// Unknown links: counts packets whose link type is not in the table of links/link_head, into which the function cannot look.
#pragma once

#include <atomic>
#include <cstdint>

#include <mapi/function.h>

#include "links/link_head.hpp"

namespace mapi::functions
{
class UnknownLinks
{
public:
    // Device's thread, once for each batch and mask that the function gets.
    void note(const mapi_batch &batch, uint64_t mask)
    {
        const links::Start start = links::head_of(batch.link_type).start;
        if (start == links::Start::kUnknown || links::is_container(start)) [[unlikely]] // also of mixed link types
            note_each(batch, mask);
    }

    // Any thread.
    void add_drops(mapi_function_drops *drops) const { drops->link_type += packets_.load(std::memory_order_relaxed); }

private:
    void note_each(const mapi_batch &batch, uint64_t mask);

    std::atomic<uint64_t> packets_ = 0;
};

// The member of a function table whose object drops nothing else.
template <class Object> void drops_of_unknown_links(const void *instance, mapi_function_drops *drops)
{
    static_cast<const Object *>(instance)->unknown_links().add_drops(drops);
}
} // namespace mapi::functions
