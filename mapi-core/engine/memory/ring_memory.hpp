// SPDX-License-Identifier: MIT
// Ring memory: a ring's pages in an arena, with its writer.
#pragma once

#include <memory>

#include <mapi/function.h>
#include <mapi/ring.h>

#include "engine/memory/arena.hpp"
#include "ring/ring_writer.hpp"

namespace mapi::engine
{
class RingMemory
{
public:
    // Throws std::bad_alloc.
    RingMemory(const std::shared_ptr<Arena> &arena, const mapi_ring_options &options);

    ring::RingWriter &writer() { return writer_; }
    const ring::RingWriter &writer() const { return writer_; }
    bool writer_waits() const { return (flags_ & MAPI_RING_WRITER_WAITS) != 0; }
    bool reader_returns() const { return (flags_ & MAPI_RING_READER_RETURNS) != 0; }

private:
    const uint32_t flags_;
    const uint64_t bytes_;
    const ArenaBlock written_; // the writer's page and the records
    const ArenaBlock read_;    // the reader's page
    ring::RingWriter writer_;
};

// The calls that functions use; `make` comes from the node.
mapi_ring_calls ring_calls(mapi_ring *(*make)(const mapi_function_setup *,
                                              const mapi_ring_options *));
inline mapi_ring *as_handle(RingMemory *ring)
{
    return reinterpret_cast<mapi_ring *>(ring);
}
} // namespace mapi::engine
