// SPDX-License-Identifier: MIT
// export: bytes -> characters.
#include "export/utf8.hpp"

#include <cwchar>
#include <locale.h>

namespace nsdump
{
namespace
{
struct Range {
    unsigned low, high;
    bool has(unsigned byte) const { return byte >= low && byte <= high; }
};

constexpr Range kFollowing = {0x80, 0xbf};

size_t bytes_by(unsigned first)
{
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : (first & 0xf0) == 0xe0        ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

// Leaves out longer forms of a character, surrogates, and codes above U+10FFFF.
Range second_by(unsigned first)
{
    switch (first) {
    case 0xe0: return {0xa0, 0xbf};
    case 0xed: return {0x80, 0x9f};
    case 0xf0: return {0x90, 0xbf};
    case 0xf4: return {0x80, 0x8f};
    default: return kFollowing;
    }
}
} // namespace

Character first_character(std::string_view text)
{
    const auto byte = [&](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    const size_t bytes = bytes_by(first);
    if (bytes == 0)
        return {1, std::nullopt};
    char32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if (i >= text.size() || !(i == 1 ? second_by(first) : kFollowing).has(byte(i)))
            return {i, std::nullopt};
        code = code << 6 | (byte(i) & 0x3f);
    }
    return {bytes, code};
}

// Uses the tables of glibc's built-in C.UTF-8, which every machine has.
int columns_of(char32_t code)
{
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    const bool is_format = (code >= 0x200b && code <= 0x200f) ||
                           (code >= 0x2028 && code <= 0x202e) ||
                           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
    if (is_format || !utf8)
        return -1;
    const locale_t before = uselocale(utf8);
    const int columns = wcwidth(static_cast<wchar_t>(code));
    uselocale(before);
    return columns;
}

std::string utf8_text(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const Character character = first_character(text);
        out += character.code ? text.substr(0, character.bytes) : "\ufffd";
        text.remove_prefix(character.bytes);
    }
    return out;
}
} // namespace nsdump
