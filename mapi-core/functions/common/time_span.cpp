// SPDX-License-Identifier: MIT
// Time span: text -> a point in packet time.
#include "functions/common/time_span.hpp"

#include <charconv>
#include <cmath>
#include <ctime>

#include "functions/values/interval.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;

// The part after the seconds: nothing, or a point and digits.
std::optional<uint64_t> parse_fraction(const char *text, const char *end)
{
    double fraction = 0;
    if (text == end)
        return 0;
    const auto read = std::from_chars(text, end, fraction, std::chars_format::fixed);
    if (*text != '.' || read.ec != std::errc() || read.ptr != end)
        return std::nullopt;
    return uint64_t(std::llround(fraction * double(kNsPerSecond)));
}

std::optional<TimePoint> parse_date(const std::string &text)
{
    tm date = {};
    date.tm_isdst = -1; // standard or daylight saving time as of that date
    const char *rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &date);
    if (!rest)
        return std::nullopt;
    const auto fraction_ns = parse_fraction(rest, text.c_str() + text.size());
    const time_t seconds = mktime(&date);
    if (!fraction_ns || seconds < 0)
        return std::nullopt;
    constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
    if (uint64_t(seconds) >= kLast / kNsPerSecond)
        return TimePoint{kLast, false};
    return TimePoint{uint64_t(seconds) * kNsPerSecond + *fraction_ns, false};
}
} // namespace

std::optional<TimePoint> parse_time_point(const std::string &text)
{
    if (text.empty() || text[0] != '+')
        return parse_date(text);
    const auto interval = parse_interval(text.substr(1));
    if (!interval || interval->ns == 0)
        return std::nullopt;
    return TimePoint{interval->ns, true};
}
} // namespace mapi::functions
