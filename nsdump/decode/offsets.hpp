// SPDX-License-Identifier: MIT
// decode: increasing offsets in a file, stored in a few bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nsdump
{
// Distances in words, seven bits per byte, with the top bit of the last byte clear.  A chunk takes
// one to three bytes, so the index of a trace with small chunks is about a hundredth of its size.
// Without the index each CPU's reader would have to walk over the chunks of all others.
class Offsets
{
public:
    void add(uint64_t offset)
    {
        for (uint64_t distance = (offset - last_) / 8;; distance >>= 7) {
            bytes_.push_back(uint8_t((distance & 0x7f) | (distance > 0x7f ? 0x80 : 0)));
            if (distance <= 0x7f)
                break;
        }
        last_ = offset;
    }

    class Reader
    {
    public:
        explicit Reader(const Offsets &offsets) : bytes_(offsets.bytes_) {}
        bool next(uint64_t &offset)
        {
            if (at_ == bytes_.size())
                return false;
            uint64_t distance = 0;
            for (unsigned shift = 0;; shift += 7) {
                const uint8_t byte = bytes_[at_++];
                distance |= uint64_t{byte & 0x7fu} << shift;
                if (byte < 0x80)
                    break;
            }
            offset = last_ += distance * 8;
            return true;
        }

    private:
        const std::vector<uint8_t> &bytes_;
        size_t at_ = 0;
        uint64_t last_ = 0;
    };

private:
    std::vector<uint8_t> bytes_;
    uint64_t last_ = 0;
};
} // namespace nsdump
