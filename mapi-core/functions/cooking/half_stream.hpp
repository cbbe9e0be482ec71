// SPDX-License-Identifier: MIT
// Half stream: one direction's segments in any order -> its bytes in order (libtins).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tins/tcp_ip/data_tracker.h>

namespace mapi::cooking
{
// Of overlapping segments, bytes already in order are kept first; of waiting segments, the longest
// that begins at a position, then the one at the lower position.
class HalfStream
{
public:
    // Cost of a waiting segment in addition to its bytes.
    static constexpr uint32_t kChunkCost = 128;

    bool has_begun() const { return has_begun_; }
    uint32_t first_sequence() const { return first_; }
    void begin(uint32_t sequence);

    void put(uint32_t sequence, std::span<const uint8_t> bytes)
    {
        bytes_.process_payload(sequence, {bytes.begin(), bytes.end()});
    }

    // Bytes in order, and the sequence numbers around them.
    std::span<const uint8_t> ready() const { return bytes_.payload(); }
    uint32_t ready_sequence() const
    {
        return bytes_.sequence_number() - uint32_t(bytes_.payload().size());
    }
    uint32_t next_sequence() const { return bytes_.sequence_number(); }
    void take(size_t count); // removes ready bytes from the front
    bool has_taken() const { return ready_sequence() != first_; }
    // Adds bytes directly before the first.  Nothing must have been taken yet.
    void prepend(std::span<const uint8_t> bytes);
    // The bytes from `sequence` on were passed on elsewhere.
    void begin_earlier(uint32_t sequence) { first_ = sequence; }
    // Continues at `sequence`, without what is in between; no bytes may be held.
    void go_to(uint32_t sequence) { bytes_.sequence_number(sequence); }

    // Whether bytes wait after a hole.
    bool has_hole() const { return !bytes_.buffered_payload().empty(); }
    uint32_t waiting_bytes() const { return bytes_.total_buffered_bytes(); }
    size_t waiting_segments() const { return bytes_.buffered_payload().size(); }
    // Continues after the hole, or after `bytes_most` bytes if that is nearer.  Returns how many
    // bytes are given up.
    uint32_t skip_hole(uint32_t bytes_most);

    size_t held_bytes() const { return bytes_.payload().size() + waiting_bytes(); }
    size_t cost() const { return held_bytes() + waiting_segments() * kChunkCost; }
    void forget(); // all bytes
    void forget_waiting();

private:
    Tins::TCPIP::DataTracker bytes_;
    uint32_t first_ = 0;
    bool has_begun_ = false;
};
} // namespace mapi::cooking
