// SPDX-License-Identifier: MIT
// Made packets: what a function that makes packets hands on, and the bytes of those that are its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mapi/function.h>

namespace mapi::functions
{
// Device's thread.  Memory is kept for the next batch: as much as the largest needed.
class MadePackets
{
public:
    // A batch of the longest packets that most link types have, and a little for each: for what is not bounded otherwise.
    static constexpr uint64_t kMemoryBytes = MAPI_BATCH_MAX * (uint64_t(1) << 18) + (uint64_t(1) << 20);

    // Whether so many more packets with so many bytes of their own stay within that.
    bool has_room(uint64_t packets, uint64_t bytes) const
    {
        return bytes_.size() + bytes + (packets_.size() + packets) * (sizeof(mapi_packet) + sizeof(size_t)) <= kMemoryBytes;
    }

    void clear()
    {
        packets_.clear();
        offsets_.clear();
        bytes_.clear();
        given_ = 0;
    }

    // A packet of the batch that comes in, as it is.
    void add(const mapi_packet &packet)
    {
        packets_.push_back(packet);
        offsets_.push_back(kForeign);
    }

    // One with `like`'s time, link type and interface and `caplen` bytes of its own, which are for the caller to fill in before the next add().
    uint8_t *add(const mapi_packet &like, uint32_t caplen, uint32_t wire_len)
    {
        const size_t offset = bytes_.size();
        if (bytes_.capacity() < offset + caplen && offset + caplen <= kMemoryBytes)
            bytes_.reserve(std::max<size_t>(offset + caplen, std::min<size_t>(2 * bytes_.capacity(), kMemoryBytes)));
        bytes_.resize(offset + caplen);
        packets_.push_back(like);
        packets_.back().caplen = caplen;
        packets_.back().wire_len = wire_len;
        offsets_.push_back(offset);
        return bytes_.data() + offset;
    }

    // The last packet turned out shorter than was asked for.
    void cut_last(uint32_t caplen, uint32_t wire_len)
    {
        bytes_.resize(offsets_.back() + caplen);
        packets_.back().caplen = caplen;
        packets_.back().wire_len = wire_len;
    }

    size_t size() const { return packets_.size(); }

    // What the table's next_batch() does.
    bool next(mapi_batch *batch)
    {
        const size_t first = given_;
        given_ = std::min(packets_.size(), first + MAPI_BATCH_MAX);
        // Only now do the bytes stay where they are.
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
