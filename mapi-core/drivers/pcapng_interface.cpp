// SPDX-License-Identifier: MIT
// pcapng interface: the resolution of its time stamps.
#include "drivers/pcapng_interface.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;
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
    return true;
}

uint64_t TimestampScale::divided_ns(uint64_t ticks) const
{
    const uint64_t seconds = ticks / ticks_per_s_;
    const unsigned __int128 rest = (unsigned __int128)(ticks % ticks_per_s_) * kNsPerSecond;
    return seconds * kNsPerSecond + uint64_t(rest / ticks_per_s_);
}
} // namespace mapi::drivers
