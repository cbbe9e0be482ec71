// SPDX-License-Identifier: MIT
// Unread packets: counts packets whose headers a function cannot read, by reason: unsupported link
// type, or unreadable header.
#pragma once

#include <atomic>
#include <cstdint>

#include <mapi/function.h>

#include "headers/headers.hpp"
#include "links/link_head.hpp"

namespace mapi::functions
{
class UnreadPackets
{
public:
    // Device's thread, once for each batch and mask that the function gets: counts link types
    // missing from the table of links/link_head.
    void note(const mapi_batch &batch, uint64_t mask)
    {
        const links::Start start = links::head_of(batch.link_type).start;
        if (start == links::Start::kUnknown || links::is_container(start))
            [[unlikely]] // also for mixed link types
            note_each(batch, mask);
    }

    // Device's thread, once for each packet whose headers the function reads.
    void note(const mapi_packet &packet, const headers::Headers &found)
    {
        if (found.is_lost ||
            (found.innermost() && !headers::has_whole_transport(packet, *found.innermost())))
            [[unlikely]]
            note_header(packet);
    }
    headers::Headers parse(const mapi_packet &packet)
    {
        const headers::Headers found = headers::parse(packet);
        note(packet, found);
        return found;
    }
    // For a packet of any link type: a packet with an unsupported link type is counted only as
    // such.
    void note_header(const mapi_packet &packet);

    // Any thread.
    void add_drops(mapi_function_drops *drops) const
    {
        drops->link_type += link_types_.load(std::memory_order_relaxed);
        drops->unread_headers += headers_.load(std::memory_order_relaxed);
    }

private:
    void note_each(const mapi_batch &batch, uint64_t mask);

    std::atomic<uint64_t> link_types_ = 0, headers_ = 0; // packets
};

// The member of a function table whose object drops nothing else.
template <class Object> void drops_of_unread(const void *instance, mapi_function_drops *drops)
{
    static_cast<const Object *>(instance)->unread().add_drops(drops);
}
} // namespace mapi::functions
