// SPDX-License-Identifier: MIT
// Interval: text -> how often.
#include "functions/interval.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
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
    static constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    for (const Unit &one : kUnits) {
        if (one.name == unit)
            return one.ns;
    }
    return 0;
}
} // namespace

std::optional<Interval> parse_interval(const std::string &text)
{
    const char *const end = text.data() + text.size();
    uint64_t packets = 0;
    const auto whole = std::from_chars(text.data(), end, packets);
    if (whole.ec == std::errc() && whole.ptr == end)
        return Interval{std::max<uint64_t>(packets, 1), 0};
    double number = 0;
    const auto timed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const double ns = timed.ec == std::errc() ? number * ns_of({timed.ptr, size_t(end - timed.ptr)}) : 0;
    if (!(ns >= 1 && ns <= kLongestNs))
        return std::nullopt;
    return Interval{0, uint64_t(std::llround(ns))};
}
} // namespace mapi::functions
