// SPDX-License-Identifier: MIT
// pcapng interface: the resolution of its timestamps.
#include "drivers/formats/pcapng_interface.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;

using Wide = __int128;
using UnsignedWide = unsigned __int128;

// The last tick before `end`, clamped to 64 bits.
uint64_t last_before(Wide end)
{
    return end <= 0 ? 0 : end > Wide(UINT64_MAX) ? UINT64_MAX : uint64_t(end - 1);
}
} // namespace

bool TimestampScale::set_resolution(uint8_t resolution)
{
    const unsigned exponent = resolution & 0x7f;
    if (resolution & 0x80) {
        if (exponent > 63)
            return false;
        ticks_per_s_ = uint64_t(1) << exponent;
    } else {
        if (exponent > 19)
            return false;
        ticks_per_s_ = 1;
        for (unsigned i = 0; i < exponent; ++i)
            ticks_per_s_ *= 10;
    }
    multiplier_ = kNsPerSecond % ticks_per_s_ == 0 ? kNsPerSecond / ticks_per_s_ : 0;
    set_range();
    return true;
}

void TimestampScale::set_offset(int64_t offset_s)
{
    offset_s_ = offset_s;
    offset_ns_ = uint64_t(offset_s) * kNsPerSecond;
    set_range();
}

// The offset is whole seconds, and so a whole number of ticks, with less than 127 bits.
void TimestampScale::set_range()
{
    const Wide offset = Wide(offset_s_) * ticks_per_s_;
    // The first tick whose time, rounded down to nanoseconds, has more than 64 bits.
    const auto end = Wide(((UnsignedWide(ticks_per_s_) << 64) - 1) / kNsPerSecond + 1);
    const Wide end_short = Wide(ticks_per_s_) << 32;
    first_ = offset < -Wide(UINT64_MAX) ? UINT64_MAX : offset < 0 ? uint64_t(-offset) : 0;
    last_ = last_before(end - offset);
    last_short_ = last_before(end_short - offset);
    if (offset < -Wide(UINT64_MAX) || end <= offset) {
        first_ = UINT64_MAX;
        last_ = last_short_ = 0;
    }
}

uint64_t TimestampScale::divided_ns(uint64_t ticks) const
{
    const uint64_t seconds = ticks / ticks_per_s_;
    const UnsignedWide rest = UnsignedWide(ticks % ticks_per_s_) * kNsPerSecond;
    return seconds * kNsPerSecond + uint64_t(rest / ticks_per_s_);
}
} // namespace mapi::drivers
