// SPDX-License-Identifier: MIT
// Interval: text -> how often: after so many packets, or after so much time as packets tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mapi::functions
{
// One of the two is not 0.
struct Interval {
    uint64_t packets = 0;
    uint64_t ns = 0;
};

// "0" and "1": each packet; "20": each 20th; "10us", "5ms", "2.5s", "1m", "1h": time, at least 1 ns, at most a year.  Nothing
// for any other text.
std::optional<Interval> parse_interval(const std::string &text);
} // namespace mapi::functions
