// SPDX-License-Identifier: MIT
// STR_SEARCH in its simplest form: the reference for the fast one.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <mapi/packet.h>

namespace match_test
{
inline std::string in_small_letters(std::string text)
{
    for (char &letter : text)
        letter = letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
    return text;
}

inline bool naive_search(const mapi_packet &packet, const std::vector<std::string> &strings,
                         int offset, int depth)
{
    const std::string_view frame(reinterpret_cast<const char *>(packet.data), packet.caplen);
    if (size_t(offset) >= frame.size())
        return false;
    const std::string_view window =
        frame.substr(size_t(offset), depth == 0 ? std::string_view::npos : size_t(depth));
    return std::any_of(strings.begin(), strings.end(), [&](const std::string &string) {
        return window.find(string) != std::string_view::npos;
    });
}
} // namespace match_test
