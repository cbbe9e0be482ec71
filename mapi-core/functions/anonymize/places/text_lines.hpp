// SPDX-License-Identifier: MIT
// Text lines: bytes -> lines one after another; the last may be unterminated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mapi::anonymize
{
struct Line {
    size_t begin = 0;
    size_t end = 0;  // before its carriage return and line feed
    size_t next = 0; // start of the following line
    bool is_whole = false;
};

inline std::string_view as_text(std::span<const uint8_t> bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

inline Line line_at(std::string_view text, size_t begin)
{
    Line line{begin, text.size(), text.size(), false};
    const size_t feed = text.find('\n', begin);
    if (feed == std::string_view::npos)
        return line;
    line.end = feed > begin && text[feed - 1] == '\r' ? feed - 1 : feed;
    line.next = feed + 1;
    line.is_whole = true;
    return line;
}

// Compares only ASCII letters without case, independent of the locale.
inline bool equal_without_case(std::string_view left, std::string_view right)
{
    if (left.size() != right.size())
        return false;
    for (size_t i = 0; i < left.size(); ++i) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
        if (lower(left[i]) != lower(right[i]))
            return false;
    }
    return true;
}
} // namespace mapi::anonymize
