// SPDX-License-Identifier: MIT
// Interval: text -> a number or a time; as an interval: after so many packets, or after so much time as packets tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mapi::functions
{
struct Amount {
    uint64_t number = 0; // of ns when it is a time
    bool is_time = false;
};

// "1500"; "10us", "5ms", "2.5s", "1m", "1h": time, at least 1 ns, at most a year.  Nothing for any other text.
std::optional<Amount> parse_amount(const std::string &text);

// One of the two is not 0.
struct Interval {
    uint64_t packets = 0;
    uint64_t ns = 0;
};

// "0" and "1": each packet; "20": each 20th; "5ms": time.  Nothing for what is no amount.
std::optional<Interval> parse_interval(const std::string &text);
// The same, and "-1": at the end of the packets alone, as after more of them than can come.
std::optional<Interval> parse_save_interval(const std::string &text);
} // namespace mapi::functions
