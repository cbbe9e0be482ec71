// SPDX-License-Identifier: MIT
// Interval: text -> a number or a time; as an interval: a number of packets, or an amount of time
// on the packets' clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mapi::functions
{
struct Amount {
    uint64_t number = 0; // in ns if it is a time
    bool is_time = false;
};

// "1500"; "10us", "5ms", "2.5s", "1m", "1h": a time of at least 1 ns and at most a year.  nullopt
// for any other text.
std::optional<Amount> parse_amount(const std::string &text);

// Exactly one of the two is nonzero.
struct Interval {
    uint64_t packets = 0;
    uint64_t ns = 0;
};

// "0" and "1": each packet; "20": every 20th; "5ms": time.  nullopt if the text is not an amount.
std::optional<Interval> parse_interval(const std::string &text);
// The same, and "-1": only at the end of the packets, expressed as a number of packets that is
// never reached.
std::optional<Interval> parse_save_interval(const std::string &text);
} // namespace mapi::functions
