// SPDX-License-Identifier: MIT
// pcapng interface: an interface description block -> what its packets need.
#pragma once

#include <cstdint>

#include "drivers/formats/loss_count.hpp"
#include "links/host_order.hpp"

namespace mapi::drivers
{
// The resolution of time stamps is a power of 10 or of 2; turned into nanoseconds without a division where that is exact.
class TimestampScale
{
public:
    TimestampScale() { set_range(); }
    // if_tsresol as in the file: the exponent, bit 7 set for powers of 2.  False: finer than a 64-bit count allows.
    bool set_resolution(uint8_t resolution);
    // if_tsoffset.
    void set_offset(int64_t offset_s);

    // Whether it is a time from 1970 on that 64 bits of nanoseconds can express: up to 2554.
    bool has(uint64_t ticks) const { return ticks >= first_ && ticks <= last_; }
    // The same of 32 bits of seconds: up to 2106.  All such times are times that has() knows.
    bool is_short(uint64_t ticks) const { return ticks >= first_ && ticks <= last_short_; }
    // Of ticks that has() knows.
    uint64_t to_ns(uint64_t ticks) const
    {
        if (multiplier_ != 0) [[likely]]
            return ticks * multiplier_ + offset_ns_;
        return divided_ns(ticks) + offset_ns_;
    }

private:
    void set_range();
    uint64_t divided_ns(uint64_t ticks) const;

    uint64_t multiplier_ = 1000; // ns a tick; 0: ticks are not whole nanoseconds
    uint64_t ticks_per_s_ = 1000000;
    int64_t offset_s_ = 0;
    uint64_t offset_ns_ = 0; // modulo 2^64
    uint64_t first_, last_, last_short_; // in ticks; without any such time `first_` is above both
};

struct CaptureInterface {
    TimestampScale scale;
    uint32_t snaplen; // the largest number for none
    uint32_t max_caplen;
    uint16_t link_type;
    links::Swap swap; // of pseudo headers, in a section of the other byte order; null: its packets have none to turn round
    LossCount losses;
};
} // namespace mapi::drivers
