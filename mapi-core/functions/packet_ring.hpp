// SPDX-License-Identifier: MIT
// Packet ring: packets of one device thread -> one reader.  Copies in whole, lends out in place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <mapi/function.h>
#include <mapi/results.h>

namespace mapi::functions
{
struct PacketRingOptions {
    size_t bytes = size_t(4) << 20; // a power of two
    bool writer_waits = false;      // when full; otherwise drops and counts
    bool reader_waits = true;       // when empty; otherwise next() gives null
};

class PacketRing
{
public:
    explicit PacketRing(const PacketRingOptions &options);

    // Device's thread.
    void push(const mapi_batch &batch, uint64_t mask);
    // Reader's thread: valid until the next call; null when empty and not waiting, ended or cancelled.
    const mapipkt *next();
    // Any thread.
    void end();
    void cancel();
    uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

private:
    bool reserve(size_t bytes);
    bool wait_for_room(uint64_t needed);
    void write(const mapi_packet &packet, size_t bytes);
    void publish_head();
    void publish_tail();
    bool wait_for_packet();

    const PacketRingOptions options_;
    const uint64_t offset_mask_;
    const std::unique_ptr<uint64_t[]> words_; // 8-byte aligned, as mapipkt needs it
    uint8_t *const bytes_;

    // Positions count bytes since the start and never wrap; the place in memory is position & offset_mask_.
    alignas(64) std::atomic<uint64_t> head_ = 0; // written by the device, whole packets only
    uint64_t write_position_ = 0;                // device's own; ahead of head_ inside a batch
    uint64_t seen_tail_ = 0;
    std::atomic<uint64_t> dropped_ = 0;

    alignas(64) std::atomic<uint64_t> tail_ = 0; // written by the reader, lags behind read_position_
    uint64_t read_position_ = 0;                 // reader's own
    uint64_t seen_head_ = 0;
    size_t lent_bytes_ = 0;

    alignas(64) std::atomic<bool> reader_sleeps_ = false;
    std::atomic<bool> writer_sleeps_ = false;
    std::atomic<bool> cancelled_ = false;
    bool ended_ = false; // under mutex_
    std::mutex mutex_;   // for sleeping and waking only
    std::condition_variable room_;
    std::condition_variable packets_;
};
} // namespace mapi::functions
