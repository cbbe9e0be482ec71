// SPDX-License-Identifier: MIT
// pcapng interface: an interface description block -> what its packets need.
#pragma once

#include <cstdint>

#include "links/host_order.hpp"

namespace mapi::drivers
{
// The resolution of time stamps is a power of 10 or of 2; turned into nanoseconds without a division where that is exact.
class TimestampScale
{
public:
    // if_tsresol as in the file: the exponent, bit 7 set for powers of 2.  False: finer than a 64-bit count allows.
    bool set_resolution(uint8_t resolution);
    void set_offset(int64_t offset_s) { offset_ns_ = uint64_t(offset_s) * 1000000000u; }

    uint64_t to_ns(uint64_t ticks) const
    {
        if (multiplier_ != 0) [[likely]]
            return ticks * multiplier_ + offset_ns_;
        return divided_ns(ticks) + offset_ns_;
    }

private:
    uint64_t divided_ns(uint64_t ticks) const;

    uint64_t multiplier_ = 1000; // ns a tick; 0: ticks are not whole nanoseconds
    uint64_t ticks_per_s_ = 1000000;
    uint64_t offset_ns_ = 0;
};

struct CaptureInterface {
    TimestampScale scale;
    uint32_t snaplen; // the largest number for none
    uint32_t max_caplen;
    uint16_t link_type;
    links::Swap swap; // of pseudo headers, in a section of the other byte order; null: its packets have none to turn round
};
} // namespace mapi::drivers
