// SPDX-License-Identifier: MIT
// arrivals: a live device's statistics -> packets received in a pass, and packets lost, by cause.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/results.h>

namespace mapi_cost
{
enum DropCause {
    kDropKernel,     // its buffer was full because the packet thread was too slow
    kDropInterface,  // dropped by the interface
    kDropBufferFull, // TO_BUFFER, or the result ring of a function, was full
    kDropLinkType,
    kDropNotWritten,
    kDropCauses
};

// "kernel", "buffer_full".
const char *drop_name(std::size_t cause);

struct Arrivals {
    double seconds = 0;
    std::uint64_t packets = 0; // that reached the engine
    std::uint64_t wire_bytes = 0;
    std::uint64_t batches = 0;         // in the trace
    std::uint64_t batched_packets = 0; // in these batches
    std::array<std::uint64_t, kDropCauses> drops{};

    double mean_batch() const
    {
        return batches > 0 ? double(batched_packets) / double(batches) : 0;
    }
    std::uint64_t dropped() const;
    void add(const Arrivals &other);
};

// Leaves `batches` at 0, because the device does not count them.
Arrivals arrivals_of(const mapi_stat_t &stats, double seconds);
} // namespace mapi_cost
