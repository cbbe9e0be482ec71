// SPDX-License-Identifier: MIT
// export: text -> columns of a terminal, in whole characters.
#include "export/columns.hpp"

#include <algorithm>

#include "export/utf8.hpp"

namespace nsdump
{
namespace
{
size_t columns_of(const Character &character)
{
    return character.code && *character.code >= 0x80
               ? size_t(std::max(nsdump::columns_of(*character.code), 0))
               : 1;
}
} // namespace

size_t display_width(std::string_view text)
{
    size_t width = 0;
    while (!text.empty()) {
        const Character character = first_character(text);
        width += columns_of(character);
        text.remove_prefix(character.bytes);
    }
    return width;
}

std::string cut_to(std::string_view text, size_t columns, std::string_view mark)
{
    if (display_width(text) <= columns)
        return std::string(text);
    const size_t mark_columns = display_width(mark);
    if (mark_columns > columns)
        return "";
    size_t bytes = 0, width = mark_columns;
    for (;;) { // ends before the text does, which is too wide
        const Character character = first_character(text.substr(bytes));
        width += columns_of(character);
        if (width > columns)
            return std::string(text.substr(0, bytes)).append(mark);
        bytes += character.bytes;
    }
}

std::string padding(std::string_view text, size_t columns)
{
    return std::string(columns - std::min(columns, display_width(text)), ' ');
}

std::string left_aligned(std::string_view text, size_t columns)
{
    return std::string(text) + padding(text, columns);
}

std::string right_aligned(std::string_view text, size_t columns)
{
    return padding(text, columns) + std::string(text);
}
} // namespace nsdump
