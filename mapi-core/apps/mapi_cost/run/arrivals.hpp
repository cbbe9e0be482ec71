// SPDX-License-Identifier: MIT
// arrivals: what a live device's statistics say -> packets that came in a pass, and those that did not, by cause.
#pragma once

#include <array>
#include <cstdint>

#include <mapi/results.h>

namespace mapi_cost
{
enum DropCause {
    kDropKernel,     // its buffer had no room: the packet thread was too slow
    kDropInterface,  // the interface did not take them
    kDropBufferFull, // TO_BUFFER, or a function whose results come one by one, had no room
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
    std::uint64_t batched_packets = 0; // in these
    std::array<std::uint64_t, kDropCauses> drops{};

    double mean_batch() const { return batches > 0 ? double(batched_packets) / double(batches) : 0; }
    std::uint64_t dropped() const;
    void add(const Arrivals &other);
};

// Without batches, which the device does not count.
Arrivals arrivals_of(const mapi_stat_t &stats, double seconds);
} // namespace mapi_cost
