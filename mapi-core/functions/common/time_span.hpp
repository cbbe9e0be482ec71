// SPDX-License-Identifier: MIT
// Time span: two texts and a first packet -> start and end time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace mapi::functions
{
// A point in packet time: absolute, or relative to another point.
struct TimePoint {
    uint64_t ns = 0; // since 1970, or after the other point
    bool is_relative = false;

    // Saturates at the latest time that packets can have.
    uint64_t after(uint64_t other_ns) const
    {
        constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
        return !is_relative ? ns : ns > kLast - other_ns ? kLast : other_ns + ns;
    }
};

// "+5s", with the units of parse_interval(); "2004-03-01 12:00:00", with or without a fraction, in
// the local time zone; times after 2554 saturate, as far as 2^64 ns reach.  nullopt for any other
// text.
std::optional<TimePoint> parse_time_point(const std::string &text);
} // namespace mapi::functions
