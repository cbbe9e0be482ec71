// SPDX-License-Identifier: MIT
// Result queue: results that come one after another, from the device's thread to one reader.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <mapi/function.h>

#include "functions/common/instance.hpp"

namespace mapi::functions
{
// Of a function with MAPI_FUNCTION_RESULTS_IN_RING.
template <class Entry> class ResultQueue
{
public:
    static constexpr size_t kRoom = 8192, kLast = 64;

    // Where the device is a file, its thread waits when the queue is full; otherwise what comes then is dropped and counted.
    // Twice the room, since a record and what is spared for the last ones may take half of a ring.  Throws std::bad_alloc.
    explicit ResultQueue(const mapi_function_setup *setup, size_t room = kRoom)
        : ring_(make_ring(setup, {is_offline(setup) ? uint32_t(MAPI_RING_WRITER_WAITS) : 0, kLast * kPlaceBytes, 2 * (room + kLast) * kPlaceBytes, 0, 0}))
    {
    }

    // Device's thread.  Takes all of them out of `entries`.
    void push(std::vector<Entry> &entries)
    {
        if (entries.empty())
            return;
        for (const Entry &entry : entries)
            write(ring_.calls->reserve(ring_.ring, sizeof(Entry)), entry);
        ring_.calls->publish(ring_.ring);
        entries.clear();
    }

    // No more will come but these; for kLast of them there always is room.
    void end(const std::vector<Entry> &last = {})
    {
        for (const Entry &entry : last)
            write(ring_.calls->reserve_last(ring_.ring, sizeof(Entry)), entry);
        ring_.calls->end(ring_.ring);
    }

private:
    static constexpr uint32_t kPlaceBytes = 8 + (sizeof(Entry) + 7) / 8 * 8;

    static void write(void *record, const Entry &entry)
    {
        if (record)
            memcpy(record, &entry, sizeof(Entry));
    }

    const Ring ring_;
};

// Members of a function table.
template <class Object> void end(void *instance)
{
    static_cast<Object *>(instance)->end();
}

template <class Object> void time_jumps(const void *instance, mapi_function_drops *drops)
{
    drops->time_jumps = static_cast<const Object *>(instance)->time_jumps();
}
} // namespace mapi::functions
