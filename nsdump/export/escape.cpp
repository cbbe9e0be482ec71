// SPDX-License-Identifier: MIT
// export: text from a trace -> text that is safe in CSV, JSON or on a terminal.
#include "export/escape.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <cwchar>
#include <locale.h>

#include <nlohmann/json.hpp>

#include "common/command/printable.hpp"

namespace nsdump
{
std::string csv_field(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == text.npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"')
            quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

std::string json_string(std::string_view text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace
{
// Chooses as setlocale() does.  Not cached, since a command calls it only a few times.
bool has_utf8_locale()
{
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char *value = std::getenv(name); value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
    return false;
}

struct Character {
    char32_t code;
    size_t bytes;
};

// The first character of the text; none if it is not UTF-8 in its shortest form.
std::optional<Character> first_character(std::string_view text)
{
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    const size_t bytes = first < 0x80                    ? 1
                         : first >= 0xc2 && first < 0xe0 ? 2
                         : (first & 0xf0) == 0xe0        ? 3
                         : first >= 0xf0 && first < 0xf5 ? 4
                                                         : 0;
    if (bytes == 0 || bytes > text.size())
        return std::nullopt;
    char32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return std::nullopt;
        code = code << 6 | (byte(i) & 0x3f);
    }
    constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kLeast[bytes] || is_surrogate || code > 0x10ffff)
        return std::nullopt;
    return Character{code, bytes};
}

// Negative: not printable.  Uses the tables of glibc's built-in C.UTF-8, which every machine has.
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
} // namespace

std::string utf8_text(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const auto character = first_character(text);
        const size_t bytes = character ? character->bytes : 1;
        out += character ? text.substr(0, bytes) : "\xef\xbf\xbd";
        text.remove_prefix(bytes);
    }
    return out;
}

std::string printable(std::string_view text)
{
    return has_utf8_locale() ? printable_utf8(text) : command::printable(text);
}

std::string printable_utf8(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const auto character = first_character(text);
        const size_t bytes = character ? character->bytes : 1;
        const std::string_view piece = text.substr(0, bytes);
        out += character && character->code >= 0x80 && columns_of(character->code) >= 0
                   ? std::string(piece)
                   : command::printable(piece);
        text.remove_prefix(bytes);
    }
    return out;
}

std::string xml_text(std::string_view text)
{
    std::string out;
    for (const char letter : printable_utf8(text)) {
        switch (letter) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += letter;
        }
    }
    return out;
}

size_t display_width(std::string_view text)
{
    size_t width = 0;
    while (!text.empty()) {
        const auto character = first_character(text);
        width += character && character->code >= 0x80
                     ? size_t(std::max(columns_of(character->code), 0))
                     : 1;
        text.remove_prefix(character ? character->bytes : 1);
    }
    return width;
}
} // namespace nsdump
