// SPDX-License-Identifier: MIT
// Words: the text of an argument -> its parts, and where they begin.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mapi::connections
{
// Why a text is refused: what() is "at OFFSET: REASON".
class TextError : public std::runtime_error
{
public:
    TextError(size_t offset, const std::string &reason)
        : std::runtime_error("at " + std::to_string(offset) + ": " + reason)
    {
    }
};

struct Word {
    std::string_view text;
    size_t offset = 0;

    std::string quoted() const { return "\"" + std::string(text) + "\""; }
};

inline Word trimmed(Word word)
{
    constexpr std::string_view kSpaces = " \t\r\n";
    const size_t first = word.text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos)
        return {word.text.substr(0, 0), word.offset};
    const size_t last = word.text.find_last_not_of(kSpaces);
    return {word.text.substr(first, last - first + 1), word.offset + first};
}

// Without spaces around them.
inline std::vector<Word> split(Word word, std::string_view separators)
{
    std::vector<Word> parts;
    for (size_t begin = 0;;) {
        const size_t end = std::min(word.text.find_first_of(separators, begin), word.text.size());
        parts.push_back(trimmed({word.text.substr(begin, end - begin), word.offset + begin}));
        if (end == word.text.size())
            return parts;
        begin = end + 1;
    }
}
} // namespace mapi::connections
