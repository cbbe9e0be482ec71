// SPDX-License-Identifier: MIT
// Result queue: a sequence of results, from the device's thread to one reader.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <mapi/function.h>

#include "functions/common/instance.hpp"

namespace mapi::functions
{
// For functions with MAPI_FUNCTION_RESULTS_IN_RING.
template <class Entry> class ResultQueue
{
public:
    static constexpr size_t kRoom = 8192, kLast = 64;

    // If the device is a file, its thread waits when the queue is full; otherwise new results are
    // dropped and counted.  The ring has twice the room, since one record plus the reserve for the
    // last results may take half of it.  Throws std::bad_alloc.
    explicit ResultQueue(const mapi_function_setup *setup, size_t room = kRoom)
        : ring_(make_ring(setup, {is_offline(setup) ? uint32_t(MAPI_RING_WRITER_WAITS) : 0,
                                  kLast * kPlaceBytes, 2 * (room + kLast) * kPlaceBytes, 0, 0}))
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

    // Pushes the last results; there is always room for kLast of them.
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
