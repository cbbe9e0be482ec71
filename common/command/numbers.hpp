// SPDX-License-Identifier: MIT
// numbers: text -> number, or what is wrong with it.
#pragma once

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "printable.hpp"

namespace command
{
// The whole text as a number of this type.
template <class Number> std::optional<Number> number_of(const std::string &text)
{
    char *end = nullptr;
    errno = 0;
    if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])))
        return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        const double number = std::strtod(text.c_str(), &end);
        return *end == 0 ? std::optional<Number>(number) : std::nullopt;
    } else if constexpr (std::is_signed_v<Number>) {
        const long long number = std::strtoll(text.c_str(), &end, 0);
        const bool fits = errno == 0 && number >= std::numeric_limits<Number>::min() &&
                          number <= std::numeric_limits<Number>::max();
        return *end == 0 && fits ? std::optional(static_cast<Number>(number)) : std::nullopt;
    } else {
        const unsigned long long number = std::strtoull(text.c_str(), &end, 0);
        const bool fits = errno == 0 && number <= std::numeric_limits<Number>::max();
        return *end == 0 && fits && text[0] != '-' ? std::optional(static_cast<Number>(number))
                                                   : std::nullopt;
    }
}

inline std::string quoted(const std::string &text)
{
    return "\"" + printable(text) + "\"";
}

// "-3" or "0x1f", also if no type can hold it.
inline bool is_whole(const std::string &text)
{
    const size_t start = text.find_first_not_of("+-");
    if (start == text.npos)
        return false;
    const bool is_hexadecimal = text.compare(start, 2, "0x") == 0;
    const char *const digits = is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    return text.find_first_not_of(digits, start + (is_hexadecimal ? 2 : 0)) == text.npos;
}

template <class Number> std::string out_of_range(const std::string &text, Number least, Number most)
{
    return fmt::format("{} is out of range ({} to {})", printable(text), least, most);
}

template <class Number> std::string check_number(const std::string &text)
{
    if (number_of<Number>(text))
        return "";
    if (!number_of<double>(text))
        return quoted(text) + " is not a number";
    if (!is_whole(text))
        return quoted(text) + " is not a whole number";
    return out_of_range(text, std::numeric_limits<Number>::lowest(),
                        std::numeric_limits<Number>::max());
}

inline std::string check_seconds(const std::string &text, double most)
{
    const auto seconds = number_of<double>(text);
    return seconds && *seconds > 0 && *seconds <= most
               ? ""
               : fmt::format("{} is not a positive number of seconds (at most {:g})", quoted(text),
                             most);
}

constexpr double kMostSeconds = 1e9; // 31 years, which fit into 64 bits as nanoseconds

// A check for durations.
inline std::string check_duration(const std::string &text)
{
    return check_seconds(text, kMostSeconds);
}

// 4096 -> "4K"
inline std::string short_size(uint64_t bytes)
{
    constexpr const char *kUnits[] = {"", "K", "M", "G"};
    size_t unit = 0;
    for (; unit + 1 < std::size(kUnits) && bytes > 0 && bytes % 1024 == 0; ++unit)
        bytes /= 1024;
    return fmt::format("{}{}", bytes, kUnits[unit]);
}
} // namespace command
