// SPDX-License-Identifier: MIT
// pcapng interface: an interface description block -> the settings for its packets.
#pragma once

#include <cstdint>

#include "drivers/formats/loss_count.hpp"
#include "links/host_order.hpp"

namespace mapi::drivers
{
// Timestamp resolutions are powers of 10 or of 2; converted to nanoseconds without a division where
// that is exact.
class TimestampScale
{
public:
    TimestampScale() { set_range(); }
    // if_tsresol as in the file: the exponent, with bit 7 set for powers of 2.  False if finer than
    // a 64-bit count allows.
    bool set_resolution(uint8_t resolution);
    // if_tsoffset.
    void set_offset(int64_t offset_s);

    // Whether the time is in the range of 64-bit nanoseconds, 1970 to 2554.
    bool has(uint64_t ticks) const { return ticks >= first_ && ticks <= last_; }
    // Whether it is in the range of 32-bit seconds, up to 2106; implies has().
    bool is_short(uint64_t ticks) const { return ticks >= first_ && ticks <= last_short_; }
    // For ticks accepted by has().
    uint64_t to_ns(uint64_t ticks) const
    {
        if (multiplier_ != 0) [[likely]]
            return ticks * multiplier_ + offset_ns_;
        return divided_ns(ticks) + offset_ns_;
    }

private:
    void set_range();
    uint64_t divided_ns(uint64_t ticks) const;

    uint64_t multiplier_ = 1000; // ns per tick; 0: ticks are not whole nanoseconds
    uint64_t ticks_per_s_ = 1000000;
    int64_t offset_s_ = 0;
    uint64_t offset_ns_ = 0;             // modulo 2^64
    uint64_t first_, last_, last_short_; // in ticks; if no time is in range, `first_` is above both
};

struct CaptureInterface {
    TimestampScale scale;
    uint32_t snaplen; // UINT32_MAX: unlimited
    uint32_t max_caplen;
    uint16_t link_type;
    links::Swap swap; // for pseudo headers, in a section of the other byte order; null if there is
                      // nothing to swap
    LossCount losses;
};
} // namespace mapi::drivers
