// SPDX-License-Identifier: MIT
// cli: "1.5s", "200ms" or "2026-11-29T12:00:00Z" -> a point in time.
#include "cli/read/moment.hpp"

#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "common/command/numbers.hpp"

namespace nsdump
{
namespace
{
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kMostDigits = 9; // of a fraction

struct Suffix {
    const char *text;
    double ns;
};

// A number without a suffix is seconds.  The first that fits is taken, so "s" comes last of its
// like.
constexpr Suffix kSuffixes[] = {{"ns", 1},  {"us", 1e3},   {"µs", 1e3},  {"ms", 1e6},
                                {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

std::optional<int64_t> since_start(const std::string &text)
{
    double unit_ns = double(kNsPerSecond);
    size_t length = text.size();
    for (const Suffix &suffix : kSuffixes)
        if (text.ends_with(suffix.text)) {
            unit_ns = suffix.ns;
            length = text.size() - std::string(suffix.text).size();
            break;
        }
    const auto number = command::number_of<double>(text.substr(0, length));
    if (!number || !std::isfinite(*number) || *number < 0 ||
        *number * unit_ns > command::kMostSeconds * double(kNsPerSecond))
        return std::nullopt;
    return std::llround(*number * unit_ns);
}

// The digits after the point of seconds, with the Z; -1 if they are something else.
int64_t fraction_ns(const std::string &text)
{
    if (text == "Z")
        return 0;
    if (text.size() < 3 || text.front() != '.' || text.back() != 'Z' ||
        text.find_first_not_of("0123456789", 1) != text.size() - 1)
        return -1;
    std::string digits = text.substr(1, text.size() - 2);
    digits.resize(kMostDigits, '0');
    return std::stoll(digits);
}

std::optional<int64_t> since_1970(const std::string &text)
{
    std::tm parts{};
    const char *const rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (!rest)
        return std::nullopt;
    const int64_t fraction = fraction_ns(rest);
    const int64_t seconds = timegm(&parts);
    if (fraction < 0 || seconds < 0 || double(seconds) > 9 * command::kMostSeconds)
        return std::nullopt;
    return seconds * kNsPerSecond + fraction;
}
} // namespace

std::optional<Moment> moment_of(const std::string &text)
{
    if (const auto ns = since_start(text))
        return Moment{false, *ns};
    if (const auto ns = since_1970(text))
        return Moment{true, *ns};
    return std::nullopt;
}

std::string is_moment(const std::string &text)
{
    return moment_of(text) ? ""
                           : fmt::format("{} is not a time (give one since the start, such as 1.5s "
                                         "or 200ms, or one in UTC, such as 2026-11-29T12:00:00Z)",
                                         command::quoted(text));
}
} // namespace nsdump
