// SPDX-License-Identifier: MIT
// Time span: two texts and a first packet -> from when until when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mapi::functions
{
// A point in packets' time: as it stands, or so much after another one.
struct TimePoint {
    uint64_t ns = 0; // since 1970, or after the other point
    bool is_relative = false;

    uint64_t after(uint64_t other_ns) const { return is_relative ? other_ns + ns : ns; }
};

// "+5s", with the units of parse_interval(); "2004-03-01 12:00:00", with a fraction or without, in the local time zone.
// Nothing for any other text.
std::optional<TimePoint> parse_time_point(const std::string &text);
} // namespace mapi::functions
