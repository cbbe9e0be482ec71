// SPDX-License-Identifier: MIT
// Values of one field -> the programs that test for them.  Most packets have none of these values,
// which a lookup must find out quickly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "packet_field.hpp"

namespace mapi::match
{
class FieldTable
{
public:
    FieldTable(const PacketField &field,
               const std::map<uint32_t, std::vector<uint32_t>> &programs_of_value)
        : field_(field), bits_shift_(shift_for(programs_of_value.size() * kBitsPerValue)),
          slots_shift_(shift_for(programs_of_value.size() * 2)),
          bits_((size_t{1} << (32 - bits_shift_)) / 64), slots_(size_t{1} << (32 - slots_shift_))
    {
        for (const auto &[value, programs] : programs_of_value) {
            bits_[(hash(value) >> bits_shift_) / 64] |= uint64_t{1}
                                                        << (hash(value) >> bits_shift_) % 64;
            size_t at = hash(value) >> slots_shift_;
            while (slots_[at].count > 0)
                at = (at + 1) % slots_.size();
            slots_[at] = {value, uint32_t(programs_.size()), uint32_t(programs.size())};
            programs_.insert(programs_.end(), programs.begin(), programs.end());
        }
    }

    const PacketField &field() const { return field_; }

    // Returns the packets, out of `count`, that may have one of the values: bit i stands for
    // starts[i].  A clear bit is always right, a set bit usually.  Branch-free and independent per
    // packet, since most packets have none of the values.
    uint64_t find_packets(const PacketRest *starts, uint32_t count) const
    {
        if (field_.bytes == 2)
            return find_packets<2>(starts, count);
        return field_.bytes == 4 ? find_packets<4>(starts, count) : find_packets<1>(starts, count);
    }
    std::span<const uint32_t> find(PacketRest start) const
    {
        return find(field_.value_at(start.data + field_.offset));
    }

private:
    template <uint32_t kBytes> uint64_t find_packets(const PacketRest *starts, uint32_t count) const
    {
        static constexpr uint8_t kNothing[4] = {};
        const uint64_t *const bits = bits_.data();
        uint64_t found = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const bool is_there = starts[i].bytes >= field_.end();
            const uint32_t bit = hash(field_.value_of<kBytes>(
                                     is_there ? starts[i].data + field_.offset : kNothing)) >>
                                 bits_shift_;
            found |= uint64_t{(bits[bit / 64] >> bit % 64 & 1) & uint64_t{is_there}} << i;
        }
        return found;
    }
    std::span<const uint32_t> find(uint32_t value) const
    {
        for (size_t at = hash(value) >> slots_shift_; slots_[at].count > 0;
             at = (at + 1) % slots_.size()) {
            if (slots_[at].value == value)
                return {&programs_[slots_[at].first], slots_[at].count};
        }
        return {};
    }

    static constexpr size_t kBitsPerValue = 32;
    static constexpr size_t kFewest = 64; // one word of bits

    struct Slot {
        uint32_t value;
        uint32_t first; // in programs_
        uint32_t count; // 0: the slot is free
    };

    static uint32_t shift_for(size_t size)
    {
        return 32 - uint32_t(std::bit_width(std::max(size, kFewest) - 1));
    }
    // The upper bits are the well-mixed ones.
    static uint32_t hash(uint32_t value) { return value * 0x9e3779b1u; }

    PacketField field_;
    uint32_t bits_shift_;
    uint32_t slots_shift_;
    std::vector<uint64_t> bits_;
    std::vector<Slot> slots_; // at most half full
    std::vector<uint32_t> programs_;
};
} // namespace mapi::match
