// SPDX-License-Identifier: MIT
// Interval: text -> a number or a time.
#include "functions/values/interval.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace mapi::functions
{
namespace
{
constexpr double kLongestNs = 366.0 * 24 * 3600 * 1e9;

double ns_of(std::string_view unit)
{
    struct Unit {
        std::string_view name;
        double ns;
    };
    static constexpr Unit kUnits[] = {{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                                      {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    for (const Unit &one : kUnits) {
        if (one.name == unit)
            return one.ns;
    }
    return 0;
}
} // namespace

std::optional<Amount> parse_amount(const std::string &text)
{
    const char *const end = text.data() + text.size();
    uint64_t number = 0;
    const auto whole = std::from_chars(text.data(), end, number);
    if (whole.ec == std::errc() && whole.ptr == end)
        return Amount{number, false};
    double time = 0;
    const auto timed = std::from_chars(text.data(), end, time, std::chars_format::fixed);
    const double ns =
        timed.ec == std::errc() ? time * ns_of({timed.ptr, size_t(end - timed.ptr)}) : 0;
    if (!(ns >= 1 && ns <= kLongestNs))
        return std::nullopt;
    return Amount{uint64_t(std::llround(ns)), true};
}

std::optional<Interval> parse_interval(const std::string &text)
{
    const auto amount = parse_amount(text);
    if (!amount)
        return std::nullopt;
    return amount->is_time ? Interval{0, amount->number}
                           : Interval{std::max<uint64_t>(amount->number, 1), 0};
}

std::optional<Interval> parse_save_interval(const std::string &text)
{
    return text == "-1" ? Interval{std::numeric_limits<uint64_t>::max(), 0} : parse_interval(text);
}
} // namespace mapi::functions
