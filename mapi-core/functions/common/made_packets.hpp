// SPDX-License-Identifier: MIT
// Made packets: the output of a function that creates packets, and the bytes that belong to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mapi/function.h>

namespace mapi::functions
{
// Device's thread.  Memory is kept for the next batch, as much as the largest batch needed.
class MadePackets
{
public:
    // A batch of packets of the maximum length of most link types, plus some bytes for each: the
    // limit for output that is not bounded otherwise.
    static constexpr uint64_t kMemoryBytes =
        MAPI_BATCH_MAX * (uint64_t(1) << 18) + (uint64_t(1) << 20);

    // Whether that many more packets with that many bytes of their own stay within the limit.
    bool has_room(uint64_t packets, uint64_t bytes) const
    {
        return bytes_.size() + bytes +
                   (packets_.size() + packets) * (sizeof(mapi_packet) + sizeof(size_t)) <=
               kMemoryBytes;
    }

    void clear()
    {
        packets_.clear();
        offsets_.clear();
        bytes_.clear();
        given_ = 0;
    }

    // Adds a packet of the input batch as is.
    void add(const mapi_packet &packet)
    {
        packets_.push_back(packet);
        offsets_.push_back(kForeign);
    }

    // Adds a packet with the time, link type and interface of `like` and `caplen` bytes of its own,
    // which the caller fills in before the next add().
    uint8_t *add(const mapi_packet &like, uint32_t caplen, uint32_t wire_len)
    {
        const size_t offset = bytes_.size();
        if (bytes_.capacity() < offset + caplen && offset + caplen <= kMemoryBytes)
            bytes_.reserve(std::max<size_t>(offset + caplen,
                                            std::min<size_t>(2 * bytes_.capacity(), kMemoryBytes)));
        bytes_.resize(offset + caplen);
        packets_.push_back(like);
        packets_.back().caplen = caplen;
        packets_.back().wire_len = wire_len;
        offsets_.push_back(offset);
        return bytes_.data() + offset;
    }

    // Shortens the last packet if it needed fewer bytes than requested.
    void cut_last(uint32_t caplen, uint32_t wire_len)
    {
        bytes_.resize(offsets_.back() + caplen);
        packets_.back().caplen = caplen;
        packets_.back().wire_len = wire_len;
    }

    size_t size() const { return packets_.size(); }

    // Implements next_batch() of the table.
    bool next(mapi_batch *batch)
    {
        const size_t first = given_;
        given_ = std::min(packets_.size(), first + MAPI_BATCH_MAX);
        // Only now is the address of the bytes final.
        for (size_t i = first; i < given_; ++i) {
            if (offsets_[i] != kForeign)
                packets_[i].data = bytes_.data() + offsets_[i];
        }
        mapi_batch_fill(batch, packets_.data() + first, uint32_t(given_ - first));
        return given_ != first;
    }

private:
    static constexpr size_t kForeign = ~size_t(0);

    std::vector<mapi_packet> packets_;
    std::vector<size_t> offsets_; // of a packet's bytes in bytes_
    std::vector<uint8_t> bytes_;
    size_t given_ = 0;
};
} // namespace mapi::functions
