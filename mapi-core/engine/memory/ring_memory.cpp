// SPDX-License-Identifier: MIT
// Ring memory: a ring's pages in an arena, with its writer.
#include "engine/memory/ring_memory.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace mapi::engine
{
namespace
{
constexpr uint64_t kBytesMin = 1024, kBytesMax = uint64_t(1) << 30;

// Maximum bytes of that many records including a gap, shorter than one of them, at the end of the
// memory: with or without the gap there is no room for another record, except in the spare bytes.
uint64_t most_bytes(const mapi_ring_options &options)
{
    const uint64_t place = ring::place_bytes(options.record_bytes);
    return std::min<uint64_t>(options.records, kBytesMax / place) * place + place - 1 +
           options.spare_bytes;
}

uint64_t wanted_bytes(const mapi_ring_options &options)
{
    // A record larger than half of the memory would never fit.
    return options.records == 0
               ? options.bytes
               : std::max(most_bytes(options),
                          2 * (ring::place_bytes(options.record_bytes) + options.spare_bytes));
}

ring::WriterOptions writer_options(const mapi_ring_options &options)
{
    ring::WriterOptions own{.waits = (options.flags & MAPI_RING_WRITER_WAITS) != 0,
                            .spare_bytes = options.spare_bytes};
    if (options.records != 0) {
        own.most_bytes = most_bytes(options);
        own.record_bytes = options.record_bytes;
    }
    return own;
}

ring::RingPages pages_in(void *written, void *read, uint64_t bytes)
{
    return {new (written) ring::WriterPage, new (read) ring::ReaderPage,
            static_cast<uint8_t *>(written) + sizeof(ring::WriterPage), bytes};
}

ring::RingWriter &writer_of(mapi_ring *handle)
{
    return reinterpret_cast<RingMemory *>(handle)->writer();
}
} // namespace

RingMemory::RingMemory(const std::shared_ptr<Arena> &arena, const mapi_ring_options &options)
    : flags_(options.flags),
      bytes_(std::bit_ceil(std::clamp(wanted_bytes(options), kBytesMin, kBytesMax))),
      written_(arena, Arena::Side::kEngine, sizeof(ring::WriterPage) + bytes_),
      read_(arena, Arena::Side::kClient, sizeof(ring::ReaderPage)),
      writer_(pages_in(written_.memory(), read_.memory(), bytes_), writer_options(options))
{
}

mapi_ring_calls ring_calls(mapi_ring *(*make)(const mapi_function_setup *,
                                              const mapi_ring_options *))
{
    return {
        .make = make,
        .reserve = [](mapi_ring *ring, uint32_t bytes) { return writer_of(ring).reserve(bytes); },
        .reserve_last = [](mapi_ring *ring,
                           uint32_t bytes) { return writer_of(ring).reserve_last(bytes); },
        .publish = [](mapi_ring *ring) { writer_of(ring).publish(); },
        .end = [](mapi_ring *ring) { writer_of(ring).end(); },
    };
}
} // namespace mapi::engine
